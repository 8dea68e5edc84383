"""What kernels of every front end have to do, as a program of n PEs: `pgasrun -n 2 python conformance.py triton`.

A front end is a module NAME_kernels.py with KERNELS and a Launcher. On a GPU heap, or for Triton with TRITON_INTERPRET=1 on the host's.
DIRECT=1 in the environment: kernels of triton and cupy get a direct_context.
`--stand-in N` runs N processes without the library, see stand_in.py.
"""

import argparse
import importlib
import pathlib
import sys

import stand_in

COUNT = 1000  # not a multiple of a block of threads
ROUNDS = 25


class Checks:
    """The checks. All PEs run every method whose name starts with check_."""

    def __init__(self, world, front_end):
        self.world, self.front_end = world, front_end
        self.launch = front_end.Launcher(world)

    def zeros(self, count, dtype):
        return self.world.zeros(count, dtype, like=self.front_end.LIBRARY)

    def run(self, kernel, *arguments):
        self.launch(kernel, *arguments)
        self.launch.wait()
        self.world.check()

    def await_all(self):
        """Returns when all PEs' GPUs have completed their work."""
        self.launch.wait()
        self.world.barrier(stream=None)

    def fill(self, array, first):
        """Sets array[i] to first + i."""
        for i in range(len(array)):
            array[i] = first + i

    def expect(self, array, values, what):
        found = array.tolist()
        if found != list(values):
            wrong = next(i for i, pair in enumerate(zip(found, values)) if pair[0] != pair[1])
            raise AssertionError(f"{what}: element {wrong} is {found[wrong]}, not {list(values)[wrong]}")

    def check_put(self):
        world, right, left = self.world, *self.neighbours()
        dst, src = self.zeros(COUNT, "int32"), self.zeros(COUNT, "int32")
        self.fill(src, 10_000 * world.my_pe)
        self.await_all()
        self.run("put", dst, src, COUNT, right)
        self.await_all()
        self.expect(dst, range(10_000 * left, 10_000 * left + COUNT), "put from the left")

    def check_get(self):
        world, right, _ = self.world, *self.neighbours()
        dst, src = self.zeros(COUNT, "float32"), self.zeros(COUNT, "float32")
        self.fill(src, 10_000 * world.my_pe)
        self.await_all()
        self.run("get", dst, src, COUNT, right)
        self.expect(dst, range(10_000 * right, 10_000 * right + COUNT), "get from the right")
        self.await_all()

    def check_ring(self):
        world, n = self.world, self.world.n_pes
        dst, src = self.zeros(COUNT, "int32"), self.zeros(COUNT, "int32")
        arrived, taken = self.zeros(1, "int64"), self.zeros(1, "int64")
        self.fill(src, 10_000 * world.my_pe)
        self.await_all()
        self.run("ring", dst, src, COUNT, arrived, taken, ROUNDS)
        origin = (world.my_pe - ROUNDS) % n
        first = 10_000 * origin + ROUNDS - 1
        self.expect(dst, range(first, first + COUNT), f"message of PE {origin} after {ROUNDS} hops")
        self.await_all()
        self.expect(taken, [ROUNDS], "messages that the right has taken")

    def check_atomic_add(self):
        world, n = self.world, self.world.n_pes
        word = self.zeros(1, "int64")
        for pe in range(n):
            for _ in range(3):
                self.run("add", word, world.my_pe + 1, pe)
        self.await_all()
        self.expect(word, [3 * n * (n + 1) // 2], "sum of all PEs' additions")

    def check_barrier(self):
        words, wrong = self.zeros(self.world.n_pes, "int64"), self.zeros(1, "int64")
        self.run("barriers", words, wrong, ROUNDS)
        self.expect(wrong, [0], "stores not seen after a barrier")

    def check_signals(self):
        word, out = self.zeros(1, "int64"), self.zeros(1, "int64")
        self.run("signals", word, out, self.neighbours()[0])
        self.expect(out, [42], "signal after a set and an addition")

    def neighbours(self):
        me, n = self.world.my_pe, self.world.n_pes
        return (me + 1) % n, (me - 1) % n


def check_all(world, front_end):
    checks = Checks(world, front_end)
    for name in sorted(vars(Checks)):
        if name.startswith("check_"):
            getattr(checks, name)()
            checks.await_all()
            if world.my_pe == 0:
                print(f"ok {name}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("front_end", choices=["triton", "cupy", "numba"])
    parser.add_argument("--stand-in", type=int, metavar="N")
    options = parser.parse_args()
    front_end = importlib.import_module(f"{options.front_end}_kernels")
    if options.stand_in:
        stand_in.run(options.stand_in, lambda world: check_all(world, front_end))
        return 0
    import pgas

    with pgas.join() as world:
        check_all(world, front_end)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    sys.exit(main())
