"""A bad cable between two network namespaces. Each end is a TAP device eth0. This program carries the frames, and
delays, reorders or drops some of them. (netem of tc does the same if the kernel has it; this program needs only
/dev/net/tun.)

    cable.py NAMESPACE NAMESPACE [--delay MS] [--jitter MS] [--loss FRACTION] [--seed N]

Prints "ready" when the devices are there, and carries frames until it is killed.
"""
import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import threading
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
LARGEST_FRAME = 65536
MOST_WAITING = 4000  # frames; if more wait, the cable is full and loses them


def set_namespace(descriptor):
    """Moves this thread to a namespace. os.setns() exists only since Python 3.12."""
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def open_tap(namespace, opened):
    """Makes eth0 in a namespace, on a separate thread that stays in the namespace."""
    with open(f"/var/run/netns/{namespace}", "rb") as space:
        set_namespace(space.fileno())
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14x", b"eth0", IFF_TAP | IFF_NO_PI))
    opened.append(device)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("namespaces", nargs=2)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--jitter", type=float, default=0.0)
    parser.add_argument("--loss", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    ends = []
    for namespace in asked.namespaces:
        maker = threading.Thread(target=open_tap, args=(namespace, ends))
        maker.start()
        maker.join()
    if len(ends) != 2:
        return
    print("ready", flush=True)

    chance = random.Random(asked.seed)
    waiting = []  # entries are (when, order, to, frame)
    order = 0
    while True:
        pause = None
        if waiting:
            pause = max(0.0, waiting[0][0] - time.monotonic())
        for end in select.select(ends, [], [], pause)[0]:
            try:
                frame = os.read(end, LARGEST_FRAME)
            except BlockingIOError:
                continue
            if chance.random() < asked.loss or len(waiting) >= MOST_WAITING:
                continue
            late = (asked.delay + chance.random() * asked.jitter) / 1000
            order += 1
            heapq.heappush(waiting, (time.monotonic() + late, order, ends[1 - ends.index(end)], frame))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, to, frame = heapq.heappop(waiting)
            try:
                os.write(to, frame)
            except (BlockingIOError, OSError):
                pass  # a full or closed end loses frames, like a cable


main()
