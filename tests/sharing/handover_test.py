"""Runs the two sides of `handover` as processes that are neither parent nor child of one another.

    handover_test.py PROGRAM MODE [ROUNDS]

ordered           every block arrives whole
unordered         without the wait, torn blocks are found, so `ordered` would find them
kill-producer     the consumer ends with an error that names the producer, within LIMIT seconds
kill-consumer     the producer ends with an error that names the consumer, within LIMIT seconds
isolated          as ordered, but the consumer is in separate namespaces like a container; they share a socket directory
isolated-kill     as kill-consumer, in such namespaces; the error has the process id in the consumer's namespace

The last two modes end with status 77 (skipped) if the system does not allow namespaces.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

# Seconds from a death to the report of the other side. The report takes 20 ms on an idle machine, and longer on a busy
# machine, because both sides poll.
LIMIT = 30

ISOLATED = ["unshare", "--mount", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def start(program, role, *arguments, before=()):
    return subprocess.Popen([*before, program, role, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def main():
    program, mode = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "tickets")
        killing = "kill" in mode
        isolated = ISOLATED if mode.startswith("isolated") else []
        if isolated:
            if subprocess.run([*isolated, "true"], stderr=subprocess.DEVNULL).returncode != 0:
                print("skipped: no namespaces here")
                sys.exit(77)
            os.environ["PGAS_SOCKET_DIR"] = folder
        producer = start(program, "produce", file, 10**9 if killing else rounds)
        while not os.path.exists(file):
            if producer.poll() is not None:
                sys.exit(f"the producer ended: {producer.communicate()[0]}")
            time.sleep(0.01)
        consumer = start(program, "consume", file, 10**9 if killing else rounds, *(["unordered"] if mode == "unordered" else []),
                         before=isolated)
        if killing:
            dying, other = (producer, consumer) if mode == "kill-producer" else (consumer, producer)
            while not os.path.exists(file + ".goes") and producer.poll() is None and consumer.poll() is None:
                time.sleep(0.01)
            time.sleep(1)
            begin = time.monotonic()
            os.kill(dying.pid, signal.SIGKILL)
            said = other.communicate(timeout=2 * LIMIT)[0]
            seconds = time.monotonic() - begin
            print(f"{said}the other one ended after {seconds * 1000:.0f} ms")
            dying.communicate()
            named = f"process {dying.pid} " if not isolated else "process "
            if other.returncode != 1 or "PGAS-E0401" not in said or named not in said or seconds > LIMIT:
                sys.exit(f"status {other.returncode} after {seconds:.2f} s: expected an error that names process {dying.pid}")
            return
        said = consumer.communicate()[0]
        produced = producer.communicate()[0]
        print(produced + said)
        if producer.returncode != 0 or consumer.returncode != 0:
            sys.exit("a side has failed")
        torn = int(re.search(r", (\d+) torn", said).group(1))
        if (torn > 0) != (mode == "unordered"):
            sys.exit(f"{torn} torn blocks")


main()
