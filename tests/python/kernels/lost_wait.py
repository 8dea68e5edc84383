"""A kernel waits for a signal that no PE sends. The host must raise the error that the kernel recorded.

    pgasrun -n 1 python lost_wait.py triton
"""

import importlib
import sys

import pgas


def main() -> int:
    front_end = importlib.import_module(f"{sys.argv[1]}_kernels")
    world = pgas.join()
    word = world.zeros(1, "int64", like=front_end.LIBRARY)
    launch = front_end.Launcher(world)
    try:
        launch("wait", word, 7)
        launch.wait()
    except Exception as ended:  # interpreted kernels end with an exception; kernels on GPUs end without one
        print(f"ended: {ended}", flush=True)
    try:
        world.synchronize()
    except pgas.Error as error:
        print(f"raised: {error}", flush=True)
        world.abort("the test is over")
        return 0
    print("not raised", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
