"""Linux gives the process id of a process that has ended to another process. Neither side mistakes the new process for
the first process.

    reused_pid.py PROGRAM      as the first process of a PID namespace; share_test.py starts it

A party is a grandchild of this process, so the party gets the process id after the next one.
"""
import os
import time

from party import Party, comes, exporter, pid_of


def collect(pid):
    """Waits until the process id is free. The parents of the parties have ended, and this process reaps them."""
    end = time.monotonic() + 10
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < end, f"process {pid} stays"
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pass
        time.sleep(0.005)


def next_party_gets(pid):
    collect(pid - 1)
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
        file.write(str(pid - 2))


def an_exporters_number():
    one = exporter()
    one.good("write 0 1")
    ticket = one.good("ticket")
    pid_of(one, ticket)
    other = Party()
    other.good(f"open {ticket}")
    one.kill()
    collect(one.pid)
    next_party_gets(one.pid)
    two = exporter()
    two.good("write 0 2")
    new = two.good("ticket")
    assert pid_of(two, new) == one.pid, (one.pid, two.pid)
    assert other.good("alive") == "dead"
    other.bad("check", "PGAS-E0401", f"process {one.pid} ")
    other.bad(f"open {ticket}", "PGAS-E0401")
    Party().bad(f"open {ticket}", "PGAS-E0401")
    assert other.good("read 0") == "1"
    other.good(f"open {new}")
    assert other.good("read 0") == "2" and other.good("alive") == "alive"
    one.end()
    two.end()
    other.end()


def an_importers_number():
    one = exporter()
    once = one.good("ticket 1")
    other = Party()
    other.good(f"open {once}")
    other.pid = int(one.good("openers").split()[1])
    other.kill()
    collect(other.pid)
    assert comes(lambda: one.good("openers") == "openers")
    next_party_gets(other.pid)
    two = Party()
    two.bad(f"open {once}", "PGAS-E0104", "its limit")
    assert one.good("openers") == "openers"
    two.good(f"open {one.good('ticket')}")
    assert one.good("openers") == f"openers {other.pid}"
    one.end()
    two.end()
    other.end()


an_exporters_number()
an_importers_number()
