"""Starts the processes of share_test.py (party.cpp), which execute commands line by line."""
import os
import signal
import sys
import time

PROGRAM = sys.argv[1]
GPU = "cuda" in os.path.basename(PROGRAM)  # each process has a CUDA context, which takes memory and time
TOLD = 1.0  # seconds until one side detects the death of the other
skipped = []  # skipped tests with their reasons


class Party:
    """A process that executes commands, started by a double fork."""

    def __init__(self, user=None, environment=None, before=()):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        starter = os.fork()
        if starter == 0:
            os.setsid()
            if os.fork() == 0:
                os.dup2(to_read, 0)
                os.dup2(from_write, 1)
                os.closerange(3, 256)
                os.environ.update(environment or {})
                if user is not None:
                    os.setgroups([])
                    os.setgid(user)
                    os.setuid(user)
                command = [*before, PROGRAM]
                os.execvp(command[0], command)
            os._exit(0)
        os.waitpid(starter, 0)
        os.close(to_read)
        os.close(from_write)
        self.to = os.fdopen(to_write, "w")
        self.answers = os.fdopen(from_read)
        self.pid = None

    def say(self, line):
        self.to.write(line + "\n")
        self.to.flush()

    def hear(self):
        line = self.answers.readline()
        if not line:
            raise AssertionError("the process has ended")
        return line.strip()

    def ask(self, line):
        self.say(line)
        return self.hear()

    def good(self, line):
        said = self.ask(line)
        assert not said.startswith("error"), f"{line[:40]}: {said}"
        return said

    def bad(self, line, code, text=""):
        said = self.ask(line)
        assert said.startswith("error") and code in said and text in said, f"{line[:40]}: {said}, not {code} {text}"
        return said

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def end(self):
        self.to.close()
        self.answers.close()


def exporter(bytes_=1 << 20, rights="", **how):
    one = Party(**how)
    one.good(f"share {bytes_} {rights}")
    return one


def comes(condition, seconds=TOLD):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def pid_of(party, ticket):
    """Returns the process id of an exporter, as an importer of its memory gets it."""
    other = Party()
    party.pid = int(other.good(f"open {ticket}").split()[2])
    other.end()
    return party.pid
