"""Finds what a job has left on a machine."""
import os
import subprocess


def leftovers(directory=None, space=None):
    """Returns files in shared memory, System V segments, sockets with names of pgas, and files in `directory`.
    `space`: the
    network namespace of the sockets, if it is not the namespace of this process."""
    found = {"/dev/shm/" + name for name in os.listdir("/dev/shm")}
    found |= set(os.listdir(directory) if directory else ())
    with open("/proc/sysvipc/shm", encoding="utf-8") as segments:
        found |= {"System V segment " + line.split()[1] for line in list(segments)[1:]}
    within = ["ip", "netns", "exec", space] if space else []
    sockets = subprocess.run([*within, "cat", "/proc/net/unix"], stdout=subprocess.PIPE, check=True).stdout
    names = [line.split()[-1] for line in sockets.decode(errors="replace").splitlines()]
    # Exporters belong to no job. Tests of sharing may run beside this test, and check their own exporters.
    return found | {f"socket {name}" for name in names if "pgas" in name and "pgas-share" not in name}


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
