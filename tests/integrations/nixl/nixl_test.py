#!/usr/bin/env python3
"""Tests the backend PGAS of NIXL with NIXL's wheel, and measures it beside the wheel's UCX backend.

Usage: nixl_test.py PLUGINS [TEST...]
       nixl_test.py PLUGINS --measure

PLUGINS is the folder with libplugin_PGAS.so (build/PRESET/nixl). Run it with a Python that has the wheel:

    python3 -m venv venv && venv/bin/pip install numpy && venv/bin/pip install --no-deps nixl-cu13
    venv/bin/python tests/integrations/nixl/nixl_test.py build/cpu/nixl

The wheel declares torch as a dependency; NIXL and this test run without it. No GPU is necessary: the memory is in memory
files. The tests start a second process, the target, which registers memory; this process is the initiator.
"""

import ctypes
import gc
import json
import mmap
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np

LIMIT = 30  # seconds for each wait
PAGE = mmap.PAGESIZE
TESTS = ("lists", "reposted", "notifications", "full_mailbox", "released", "loopback", "refusals", "killed_target")


def import_nixl() -> Any:
    try:
        import nixl_cu13

        return nixl_cu13
    except ImportError:
        import nixl_cu12

        return nixl_cu12


class Region:
    """Memory of a memory file, or private memory, as bytes of NumPy."""

    def __init__(self, size: int, shared: bool = True):
        self.fd = os.memfd_create("nixl", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) if shared else -1
        if shared:
            os.ftruncate(self.fd, size)
            self.map = mmap.mmap(self.fd, size, mmap.MAP_SHARED)
        else:
            self.map = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.bytes = np.frombuffer(self.map, dtype=np.uint8)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.size = size

    def describe(self, offset: int = 0, size: int = 0) -> list[tuple[int, int, int, str]]:
        return [(self.address + offset, size or self.size, 0, "")]


def make_contents(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def make_agent(name: str, backend: str) -> Any:
    return import_nixl().nixl_agent(name, import_nixl().nixl_agent_config(backends=[backend]))


def decode_name(agent: Any) -> str:
    return agent.decode() if isinstance(agent, bytes) else agent


def await_true(what: str, condition) -> Any:
    end = time.monotonic() + LIMIT
    while not (result := condition()):
        assert time.monotonic() < end, f"{what}: not within {LIMIT} s"
    return result


def finish(agent: Any, handle: Any) -> str:
    """Posts a transfer, and waits for its end."""
    state = agent.transfer(handle)
    end = time.monotonic() + LIMIT
    while state == "PROC":
        assert time.monotonic() < end, f"the transfer does not end within {LIMIT} s"
        state = agent.check_xfer_state(handle)
    return state


# ---- the other process ----------------------------------------------------------------------------------------------


def run_target(backend: str, size: int) -> None:
    """Does what the lines on its standard input ask for, and answers each by a line."""
    agent = make_agent("target", backend)
    memory = Region(size)
    memory.bytes[:] = make_contents(size, 1)
    registered = agent.register_memory(memory.describe(), "DRAM")
    received: list[bytes] = []
    answer({"metadata": agent.get_agent_metadata().hex(), "address": memory.address})
    for line in sys.stdin:
        asked = json.loads(line)
        what = asked["what"]
        if what == "load":
            answer(decode_name(agent.add_remote_agent(bytes.fromhex(asked["metadata"]))))
        elif what == "fill":
            memory.bytes[:] = make_contents(size, asked["seed"])
            answer(None)
        elif what == "equals":
            answer(bool(np.array_equal(memory.bytes, make_contents(size, asked["seed"]))))
        elif what == "received":
            count = asked["count"]

            def receive_enough() -> bool:
                for sender, texts in agent.get_new_notifs().items():
                    received.extend(f"{sender}:".encode() + text for text in texts)
                return len(received) >= count

            await_true(f"{count} notifications", receive_enough)
            answer([text.decode() for text in received[:count]])
            del received[:count]
        elif what == "send":
            agent.send_notif("initiator", asked["text"].encode())
            answer(None)
        elif what == "end":
            agent.deregister_memory(registered)
            answer(None)
            return


def answer(what: Any) -> None:
    print("@" + json.dumps(what), flush=True)


class Pair:
    """An initiator in this process and a target in another one, which know each other."""

    def __init__(self, backend: str = "PGAS", size: int = 1 << 20):
        self.size = size
        command = [sys.executable, __file__, sys.argv[1], "--target", backend, str(size)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        described = self.read()
        self.there = described["address"]
        self.agent = make_agent("initiator", backend)
        self.memory = Region(size)
        self.registered = self.agent.register_memory(self.memory.describe(), "DRAM")
        self.name = decode_name(self.agent.add_remote_agent(bytes.fromhex(described["metadata"])))
        assert self.name == "target"
        assert self.ask("load", metadata=self.agent.get_agent_metadata().hex()) == "initiator"

    def __enter__(self) -> "Pair":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.ask("end")
        self.process.kill()
        self.process.wait(LIMIT)
        self.agent.deregister_memory(self.registered)
        del self.agent
        gc.collect()

    def read(self) -> Any:
        for line in self.process.stdout:  # NIXL's log goes to the same output
            if line.startswith("@"):
                return json.loads(line[1:])
        raise AssertionError(f"the target has ended: {self.process.wait(LIMIT)}")

    def say(self, what: str, **more: Any) -> None:
        self.process.stdin.write(json.dumps({"what": what, **more}) + "\n")
        self.process.stdin.flush()

    def ask(self, what: str, **more: Any) -> Any:
        self.say(what, **more)
        return self.read()

    def request(self, operation: str, here, there, block: int, notification: bytes = b"") -> Any:
        """A transfer of blocks at the offsets `here` of this process and `there` of the target."""
        mine = np.column_stack([self.memory.address + np.asarray(here), np.full(len(here), block), np.zeros(len(here), int)])
        other = np.column_stack([self.there + np.asarray(there), np.full(len(there), block), np.zeros(len(there), int)])
        agent = self.agent
        return agent.initialize_xfer(
            operation,
            agent.get_xfer_descs(mine.astype(np.uint64), "DRAM"),
            agent.get_xfer_descs(other.astype(np.uint64), "DRAM"),
            self.name,
            notification,
        )


# ---- the tests ------------------------------------------------------------------------------------------------------


def test_lists() -> None:
    """Lists of blocks in both directions, in another order on each side, of odd sizes and at odd addresses."""
    for block in (1, 24, 4096, 4097, 65536 + 3):
        with Pair(size=4 << 20) as pair:
            count = pair.size // block if block > 24 else 1000
            order = np.random.default_rng(block).permutation(count)
            here, there = np.arange(count) * block, order * block
            pair.memory.bytes[:] = 0
            assert finish(pair.agent, pair.request("READ", here, there, block)) == "DONE"
            theirs = make_contents(pair.size, 1)
            expected = theirs[: count * block].reshape(count, block)[order].reshape(-1)
            assert np.array_equal(pair.memory.bytes[: count * block], expected), f"READ of {block} bytes"
            assert not pair.memory.bytes[count * block :].any(), "bytes behind the last block have changed"

            # The target gets the blocks of seed 2 in two transfers, and the target's bytes behind the last block do not
            # change.
            pair.ask("fill", seed=3)
            new = make_contents(pair.size, 2)
            pair.memory.bytes[:] = new
            even = np.arange(count) % 2 == 0
            assert finish(pair.agent, pair.request("WRITE", here[even], there[even], block)) == "DONE"
            assert finish(pair.agent, pair.request("WRITE", here[~even], there[~even], block, b"written")) == "DONE"
            assert pair.ask("received", count=1) == ["initiator:written"]
            expected = make_contents(pair.size, 3)
            expected[: count * block].reshape(count, block)[order] = new[: count * block].reshape(count, block)
            assert finish(pair.agent, pair.request("READ", [0], [0], pair.size)) == "DONE"
            assert np.array_equal(pair.memory.bytes, expected), f"WRITE of {block} bytes"


def test_reposted() -> None:
    """A request is posted again and again, and each time moves what is in memory then."""
    with Pair() as pair:
        handle = pair.request("WRITE", [0], [0], pair.size)
        for seed in range(5, 25):
            pair.memory.bytes[:] = make_contents(pair.size, seed)
            assert finish(pair.agent, handle) == "DONE"
            assert pair.ask("equals", seed=seed)


def test_notifications() -> None:
    """Notifications arrive once, in order, behind the bytes of their transfers, and in both directions."""
    with Pair() as pair:
        texts = [f"{i}: {'y' * (i % 977)}" for i in range(2000)]
        for text in texts:
            pair.agent.send_notif("target", text.encode())
        assert pair.ask("received", count=len(texts)) == [f"initiator:{text}" for text in texts]
        pair.ask("send", text="back")
        found = await_true("a notification of the target", pair.agent.get_new_notifs)
        assert found == {"target": [b"back"]}, found
        for seed in range(30, 40):
            pair.memory.bytes[:] = make_contents(pair.size, seed)
            handle = pair.request("WRITE", [0], [0], pair.size, b"there")
            assert pair.agent.transfer(handle) in ("PROC", "DONE")
            assert pair.ask("received", count=1) == ["initiator:there"]  # without a check of the handle
            assert pair.ask("equals", seed=seed)
            await_true("the end of the transfer", lambda: pair.agent.check_xfer_state(handle) == "DONE")


def test_full_mailbox() -> None:
    """Without room for its notification, a transfer stays in progress, and other transfers are not held up."""
    with Pair() as pair:
        text = b"z" * 100_000
        sent = 0

        def fill() -> None:
            nonlocal sent
            try:
                while sent < 1000:
                    pair.agent.send_notif("target", text)
                    sent += 1
            except Exception:
                pass

        log = capture_log(fill)
        assert 10 < sent < 1000 and "its mailbox is full" in log, (sent, log)
        waiting = pair.request("WRITE", [0], [0], pair.size, text)
        assert pair.agent.transfer(waiting) == "PROC"
        assert finish(pair.agent, pair.request("READ", [0], [0], pair.size)) == "DONE"
        time.sleep(0.05)
        assert pair.agent.check_xfer_state(waiting) == "PROC"
        assert len(pair.ask("received", count=sent + 1)) == sent + 1
        await_true("the end of the transfer", lambda: pair.agent.check_xfer_state(waiting) == "DONE")
        try:
            pair.agent.send_notif("target", b"z" * (3 << 20))
        except Exception:
            return
        raise AssertionError("a notification that is larger than a mailbox was accepted")


def test_released() -> None:
    """A request may be released at once: the transfer has then either not begun, or has ended."""
    with Pair(size=64 << 20) as pair:
        pair.memory.bytes[:] = make_contents(pair.size, 6)
        first = pair.request("WRITE", [0], [0], pair.size)
        waiting = [pair.request("WRITE", [0], [0], pair.size) for _ in range(3)]
        for handle in (first, *waiting):
            assert pair.agent.transfer(handle) in ("PROC", "DONE")
        for handle in (*waiting, first):
            pair.agent.release_xfer_handle(handle)
        pair.memory.bytes[:] = make_contents(pair.size, 7)  # no transfer reads it any more
        assert pair.ask("equals", seed=1) or pair.ask("equals", seed=6)


def test_loopback() -> None:
    """Transfers and notifications of an agent to itself."""
    agent = make_agent("alone", "PGAS")
    memory = Region(1 << 20)
    memory.bytes[:] = make_contents(memory.size, 3)
    half = memory.size // 2
    registered = agent.register_memory(memory.describe(), "DRAM")
    first = agent.get_xfer_descs([(memory.address, half, 0)], "DRAM")
    second = agent.get_xfer_descs([(memory.address + half, half, 0)], "DRAM")
    assert finish(agent, agent.initialize_xfer("WRITE", first, second, "alone", b"me")) == "DONE"
    assert np.array_equal(memory.bytes[half:], make_contents(memory.size, 3)[:half])
    assert agent.get_new_notifs() == {"alone": [b"me"]}
    agent.deregister_memory(registered)


def test_refusals() -> None:
    """Memory that cannot be shared is refused, with the reason."""
    agent = make_agent("strict", "PGAS")
    private, whole = Region(1 << 20, shared=False), Region(1 << 20)
    for described, reason in (
        (private.describe(), "is private"),
        (whole.describe(size=PAGE), "larger than the given range"),
        (whole.describe(offset=PAGE, size=PAGE), "before the given address"),
    ):
        log = capture_log(lambda: expect_refusal(agent, described))
        assert "[pgas] NIXL backend: registerMem" in log and reason in log, log
    agent.deregister_memory(agent.register_memory(whole.describe(), "DRAM"))


def expect_refusal(agent: Any, described: list) -> None:
    try:
        agent.register_memory(described, "DRAM")
    except Exception:
        return
    raise AssertionError("memory that cannot be shared was registered")


def capture_log(call) -> str:
    """What the call writes to the standard error output."""
    with open(os.memfd_create("log"), "w+b", buffering=0) as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            call()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def test_killed_target() -> None:
    """After the end of the target, a transfer fails, and the memory can still be read until then without a fault."""
    with Pair() as pair:
        handle = pair.request("READ", [0], [0], pair.size)
        assert finish(pair.agent, handle) == "DONE"
        os.kill(pair.process.pid, signal.SIGKILL)
        pair.process.wait(LIMIT)
        end = time.monotonic() + LIMIT
        while True:
            try:
                if finish(pair.agent, handle) == "ERR":
                    break
            except Exception as failed:
                assert "DISCONNECT" in repr(failed).upper() or "NOT_FOUND" in repr(failed).upper(), repr(failed)
                break
            assert time.monotonic() < end, "transfers to a process that has ended do not fail"


# ---- measurements ---------------------------------------------------------------------------------------------------


def measure() -> None:
    """Prints the times of both backends, as tables. With NIXL's variable for plugins, the wheel finds none of its own."""
    for backend in ("PGAS", "UCX"):
        environment = {name: value for name, value in os.environ.items() if backend == "PGAS" or name != "NIXL_PLUGIN_DIR"}
        subprocess.run([sys.executable, __file__, sys.argv[1], "--measure", backend], env=environment, check=False)


def measure_backend(backend: str) -> None:
    """Prints the median time of posting and of the whole transfer, and the bandwidth."""
    print("| backend | operation | blocks | bytes | post, us | all, us | GB/s |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for count, block in ((1, 64), (1000, 2048), (4000, 45056), (1, 180 << 20)):
        with Pair(backend, max(count * block, PAGE)) as pair:
            pair.memory.bytes[:] = 1
            order = np.random.default_rng(1).permutation(count) * block
            for operation in ("READ", "WRITE"):
                handle = pair.request(operation, np.arange(count) * block, order, block)
                times = []
                for _ in range(12):
                    start = time.perf_counter()
                    state = pair.agent.transfer(handle)
                    posted = time.perf_counter()
                    while state == "PROC":
                        state = pair.agent.check_xfer_state(handle)
                    assert state == "DONE", state
                    times.append((time.perf_counter() - start, posted - start))
                whole, post = sorted(times[2:])[len(times[2:]) // 2]
                rate = count * block / whole / 1e9
                print(f"| {backend} | {operation} | {count} | {block} | {post * 1e6:.1f} | {whole * 1e6:.1f} | {rate:.2f} |", flush=True)
                pair.agent.release_xfer_handle(handle)


def main() -> None:
    if sys.argv[2:3] == ["--target"]:
        return run_target(sys.argv[3], int(sys.argv[4]))
    if sys.argv[2:3] == ["--measure"]:
        return measure_backend(sys.argv[3]) if sys.argv[3:] else measure()
    for name in sys.argv[2:] or TESTS:
        globals()[f"test_{name}"]()
        print(f"{name}: passed", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[2:4] not in (["--measure", "UCX"], ["--target", "UCX"]):
        os.environ["NIXL_PLUGIN_DIR"] = str(pathlib.Path(sys.argv[1]).resolve())
    main()
