"""Two hosts on one machine: network namespaces with a cable between them, each with its own host name, and mpirun
across them. Needs root and the right to make namespaces. Otherwise two_hosts() raises CannotMakeHosts.

The cable is a pair of virtual network devices. A bad cable is cable.py with two TAP devices.
"""
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ("node1", "node2")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
NETWORK = "10.77.0.0/24"
HERE = os.path.dirname(os.path.abspath(__file__))


class CannotMakeHosts(Exception):
    """The error if this machine does not allow network namespaces."""


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotMakeHosts(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")


def await_carrier(spaces):
    """Waits until the links are up. The kernel takes up to a second to report that, and UCX uses only links that are
    up."""
    deadline = time.monotonic() + 10
    for space in spaces:
        while "LOWER_UP" not in (link := subprocess.run(["ip", "-n", space, "-br", "link", "show", "eth0"], capture_output=True,
                                                        text=True, check=False).stdout) or "DOWN" in link.split()[1]:
            if time.monotonic() > deadline:
                raise CannotMakeHosts(f"the cable does not come up: {link.strip()}")
            time.sleep(0.02)


class Hosts:
    """The result of two_hosts(): commands on one of the hosts, and jobs on both."""

    def __init__(self, directory, spaces):
        self.directory = directory
        self.spaces = spaces

    def on(self, host, command):
        """Returns the words that run the shell command on a host."""
        table = shlex.quote(os.path.join(self.directory, "hosts"))
        script = f"mount --bind {table} /etc/hosts && hostname {NAMES[host]} && {command}"
        return ["ip", "netns", "exec", self.spaces[host], "unshare", "--uts", "--mount", "sh", "-c", script]

    def job(self, split, words, environment):
        """Returns the words that run a program with split[i] processes on host i."""
        mpirun = ["mpirun", "--allow-run-as-root", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent",
                  os.path.join(self.directory, "agent"), "--mca", "oob_tcp_if_include", NETWORK,
                  "--host", ",".join(f"{name}:{n}" for name, n in zip(NAMES, split)), "-n", str(sum(split))]
        for name, value in environment.items():
            mpirun += ["-x", f"{name}={value}"]
        return self.on(0, "exec " + shlex.join(mpirun + list(words)))

    def cut(self):
        """Disconnects the second host from the network."""
        run("ip", "-n", self.spaces[1], "link", "set", "eth0", "down")


@contextlib.contextmanager
def two_hosts(cable=None):
    """Makes the hosts and removes them afterwards. `cable`: arguments of cable.py; None: a good cable."""
    for tool in ("ip", "unshare", "mpirun"):
        if shutil.which(tool) is None:
            raise CannotMakeHosts(f"{tool} is not installed")
    directory = tempfile.mkdtemp(prefix="pgas-hosts-")
    spaces = [f"pgas-{os.getpid()}-{name}" for name in NAMES]
    carrier = None
    try:
        for space in spaces:
            run("ip", "netns", "add", space)
        if cable is None:
            run("ip", "-n", spaces[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", spaces[1])
        else:
            carrier = subprocess.Popen([sys.executable, os.path.join(HERE, "cable.py"), *spaces, *cable],
                                       stdout=subprocess.PIPE, text=True)
            if carrier.stdout.readline().strip() != "ready":
                raise CannotMakeHosts("no TAP devices here")
        for space, address in zip(spaces, ADDRESSES):
            run("ip", "-n", space, "address", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                run("ip", "-n", space, "link", "set", device, "up")
        await_carrier(spaces)
        with open(os.path.join(directory, "hosts"), "w", encoding="utf-8") as table:
            table.write("127.0.0.1 localhost\n")
            table.writelines(f"{address} {name}\n" for name, address in zip(NAMES, ADDRESSES))
        hosts = Hosts(directory, spaces)
        agent = os.path.join(directory, "agent")
        with open(agent, "w", encoding="utf-8") as script:  # takes the place of ssh: HOST COMMAND...
            script.write("#!/bin/sh\nhost=$1\nshift\ncase $host in\n")
            for host, name in enumerate(NAMES):
                words = shlex.join(hosts.on(host, 'exec sh -c "$1"'))
                script.write(f'{name}) exec {words} sh "$*" ;;\n')
            script.write("esac\n")
        os.chmod(agent, 0o700)
        probe = subprocess.run(hosts.on(1, "hostname"), capture_output=True, text=True, check=False)
        if probe.stdout.strip() != NAMES[1]:
            raise CannotMakeHosts(f"a process on a host of its own: {probe.stderr.strip()}")
        yield hosts
    finally:
        for space in spaces:
            listed = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True, check=False)
            for pid in listed.stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        if carrier is not None:
            carrier.kill()
            carrier.wait()
        time.sleep(0.05)
        for space in spaces:
            subprocess.run(["ip", "netns", "delete", space], capture_output=True, check=False)
        shutil.rmtree(directory, ignore_errors=True)
