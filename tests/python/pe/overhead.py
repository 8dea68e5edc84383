"""What put and all_reduce on a stream cost in Python, beside the same calls of C++ in the same process, in turns.

    pgasrun -n 2 python overhead.py torch     or cupy; or numpy, on the host heap, whose streams are threads

overhead.cpp is compiled with the wheel's headers, so a compiler of C++20 is needed (TEST_CXX, default g++). Fails if Python takes
over LIMIT microseconds more. Every figure is the least of seven means of CALLS calls; what the stream does meanwhile is not counted, as long
as its queue has room. On the host heap much of both is waking the stream's thread, which C++ does less often, as it is faster.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT = 2.5
CALLS = 200
COUNT = 256
SOURCE = pathlib.Path(__file__).with_suffix(".cpp")


def compiled(pgas, where):
    made = pathlib.Path(where) / "overhead.so"
    lib = pgas.library_dir()
    subprocess.run([os.environ.get("TEST_CXX") or "g++", "-std=c++20", "-O2", "-shared", "-fPIC", SOURCE, "-o", made,
                    *(f"-I{each}" for each in pgas.include_dirs()), f"-L{lib}", f"-Wl,-rpath,{lib}", "-lpgas"], check=True, timeout=120)
    library = ctypes.CDLL(str(made))
    for name in ("join", "put", "all_reduce", "leave"):
        getattr(library, f"overhead_{name}").restype = ctypes.c_double
    return library


def id_of_first(world, pgas):
    """Returns the unique id that PE 0 has made. The id is broadcast through the heap."""
    box = world.zeros(256, "uint8", like="memory")
    if world.my_pe == 0:
        word = pgas.make_unique_id().encode()
        for i, letter in enumerate(word):
            world.p(box.view((1,), "uint8", i), letter, 0)
    world.broadcast(box, stream=None)
    return bytes(world.g(box.view((1,), "uint8", i), world.my_pe) for i in range(256)).rstrip(b"\0")


def cost(call, synchronize):
    best = 1e9
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - begin) / CALLS)
        synchronize()
    return best * 1e6


def measure(world, pgas, library, cxx):
    me, right = world.my_pe, (world.my_pe + 1) % world.n_pes
    if library == "torch":
        import torch

        torch.cuda.set_device(world.device)
        stream = torch.cuda.Stream()
        native = stream.cuda_stream
        torch.cuda.set_stream(stream)
    elif library == "cupy":
        import cupy

        cupy.cuda.Device(world.device).use()
        stream = cupy.cuda.Stream(non_blocking=True)
        native = stream.ptr
        stream.use()
    else:
        stream, native = world.stream(), None
    on = {} if native is not None else {"stream": stream}  # without an argument, calls use the current stream
    x, y = world.zeros(COUNT, "float32"), world.zeros(COUNT, "float32")

    def synchronize():
        world.synchronize(stream)
        world.barrier(stream=None)

    if cxx.overhead_join(id_of_first(world, pgas), me, world.n_pes, COUNT) < 0:
        raise RuntimeError("overhead.cpp could not join: it has said why")
    worst = 0.0
    for name, call, arguments in (("put", lambda: world.put(x, y, right, **on), (right,)), ("all_reduce", lambda: world.all_reduce(x, **on), ())):
        synchronize()
        found = {"python": [], "cxx": []}
        for _ in range(3):
            found["python"].append(cost(call, synchronize))
            found["cxx"].append(getattr(cxx, f"overhead_{name}")(ctypes.c_void_p(native), CALLS, COUNT, *arguments))
        python, plain = min(found["python"]), min(found["cxx"])
        if plain < 0:
            raise RuntimeError(f"overhead.cpp: {name} failed: it has said why")
        worst = max(worst, python - plain)
        if me == 0:
            print(f"result: {name} on a stream: {python:.2f} us, C++ {plain:.2f} us, Python adds {python - plain:.2f} us", flush=True)
    cxx.overhead_leave()
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["torch", "cupy", "numpy"])
    parser.add_argument("--limit", type=float, default=LIMIT)
    options = parser.parse_args()
    __import__(options.library)
    import pgas

    with tempfile.TemporaryDirectory() as where:
        cxx = compiled(pgas, where)
        with pgas.join(like=options.library) as world:
            worst = measure(world, pgas, options.library, cxx)
            world.barrier(stream=None)
    if worst > options.limit:
        print(f"Python adds up to {worst:.2f} us, and {options.limit} us are the limit", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
