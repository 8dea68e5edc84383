"""A kernel waits for a signal that nobody sends: PE 0 raises what the kernel recorded. `pgasrun -n 2 python lost_wait.py triton`."""

import importlib
import sys

import pgas


def main() -> int:
    front_end = importlib.import_module(f"{sys.argv[1]}_kernels")
    world = pgas.join()
    word = world.zeros(1, "int64", like=front_end.LIBRARY)
    launch = front_end.Launcher(world)
    if world.my_pe != 0:
        world.barrier()  # ends with PE 0's error
        return 0
    try:
        launch("wait", word, 7)
        world.synchronize()
        world.check()
    except pgas.Error as error:
        print(f"raised: {error}", flush=True)
        world.abort("the test is over")
        return 0
    print("not raised", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
