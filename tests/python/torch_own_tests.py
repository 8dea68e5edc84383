"""torch's own tests of symmetric memory with the backend PGAS: each in a process of its own, with a limit of time, and a table.

    python torch_own_tests.py test_symmetric_memory.py [--ranks 2] [--jobs 4] [--limit 90] [--only PATTERN] [--backend CUDA]

The file is torch's test/distributed/test_symmetric_memory.py, from the branch of the installed torch:
https://github.com/pytorch/pytorch/blob/release/2.11/test/distributed/test_symmetric_memory.py. Its imports need `expecttest`.

Only this is changed:
* After dist.init_process_group() each rank calls pgas.torch.enable(). A test class without ranks calls it in its only process.
* Tests that need multicast are left out without a query of the GPU. torch makes this query at import, and accepts no other backend
  after it.
* In tests of timeouts, torch.cuda.synchronize() also raises the error of a wait of pgas that has timed out. torch's own kernels end
  with a trap instead.
* Only if there are more ranks than GPUs, marked as "shared" in the table: Rank r has GPU r % GPUs as its `device`. "2 GPUs are needed"
  means 2 ranks. The test whether GPUs can access one another is left out. The process group is gloo, because NCCL requires a GPU for
  each rank. Collectives that compute a test's expected result copy their data through host memory, with 8-bit floats as bytes, as gloo
  requires.
* With --backend CUDA only the last change is made. A test that also fails with CUDA fails because of torch or of the machine.
"""

import argparse
import concurrent.futures
import fnmatch
import functools
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

NAME = "torch_own"
REASONS = {"multicast support is not available": "needs multicast", "Need at least": "needs more ranks", "Requires CUDA": "needs a GPU",
           "cuda p2p access": "needs GPUs that reach one another", "TODO": "torch leaves it out", "compute capability": "needs another GPU",
           "issues/": "torch leaves it out on this GPU"}


def options_of(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=4, help="tests at a time")
    parser.add_argument("--limit", type=float, default=90, help="seconds for a test")
    parser.add_argument("--total", type=float, default=600, help="seconds for all; what has not begun then has not run")
    parser.add_argument("--only", default="*", help="CLASS.TEST, patterns with commas between")
    parser.add_argument("--leave-out", default="", help="the same")
    parser.add_argument("--backend", default="PGAS")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


# ---- in the processes of a test -------------------------------------------------------------------------------------


def use_backend(options):
    import torch

    if options.backend == "PGAS":
        import pgas.torch

        return pgas.torch.enable()
    symm_mem = __import__("torch.distributed._symmetric_memory", fromlist=["set_backend"])
    if symm_mem.get_backend(torch.device("cuda")) != options.backend:
        symm_mem.set_backend(options.backend)
    return None


def end_parent_in(seconds):
    """Ends torch's parent process after a rank has failed. The parent waits for the ranks in their order, and would
    wait for ever for a rank that has ended or hangs."""
    if __name__ == "__mp_main__":
        timer = threading.Timer(seconds, os.kill, (os.getppid(), signal.SIGTERM))
        timer.daemon = True
        timer.start()


def used(options):
    try:
        return use_backend(options)
    except Exception:
        traceback.print_exc()
        end_parent_in(1)
        time.sleep(5)
        raise


def adapt(options):
    """Changes torch before torch's file is imported. Returns the number of GPUs (0 for the host heap), and whether
    ranks share them."""
    import torch
    import torch.distributed as dist
    from torch.testing._internal import common_distributed, common_utils

    common_distributed.requires_multicast_support = lambda: unittest.skip("multicast support is not available")
    gpus = torch.cuda.device_count() if os.environ.get("PGAS_HEAP") != "host" else 0
    shared = options.ranks > gpus
    original = dist.init_process_group

    @functools.wraps(original)
    def init_process_group(backend=None, *args, **words):
        original("gloo" if shared else backend, *args, **words)
        if gpus == 0:
            return used(options)
        before = torch.cuda.current_device()  # a test may require that no device is set, but a rank of a world has one
        torch.cuda.set_device(dist.get_rank() % gpus)
        try:
            return used(options)
        finally:
            torch.cuda.set_device(before)

    dist.init_process_group = init_process_group
    if options.backend == "PGAS":
        synchronize = torch.cuda.synchronize

        @functools.wraps(synchronize)
        def synchronize_and_check(*args, **words):
            synchronize(*args, **words)
            if "timeout" in (options.one or ""):
                pgas_torch = sys.modules["pgas.torch"]
                pgas_torch.world().check()

        torch.cuda.synchronize = synchronize_and_check
    if shared:
        expect_by_host(torch)
        os.environ["TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES"] = "1"
        common_utils.requires_cuda_p2p_access = lambda: lambda of: of
        common_distributed.skip_if_lt_x_gpu = lambda x, **_: unittest.skipIf(options.ranks < x, f"Need at least {x} ranks")
    return gpus, shared


class CalledAs:
    """An operator of torch with a replaced call. All other attributes are those of the operator, because torch's
    compiler examines every operator."""

    def __init__(self, operator, call):
        self._operator, self._call = operator, call

    def __call__(self, *words):
        return self._call(*words)

    def __getattr__(self, name):
        return getattr(self._operator, name)


def expect_by_host(torch):
    """Replaces the collectives that compute expected results of GPU tensors, so that gloo can execute them."""
    functional = torch.ops._c10d_functional
    gather, reduce_scatter = functional.all_gather_into_tensor, functional.reduce_scatter_tensor

    def all_gather_into_tensor(x, *words):
        as_bytes = x.element_size() == 1
        gathered = functional.wait_tensor(gather(x.contiguous().cpu().view(torch.uint8) if as_bytes else x.cpu(), *words))
        return (gathered.view(x.dtype) if as_bytes else gathered).to(x.device)

    def reduce_scatter_tensor(x, *words):
        return functional.wait_tensor(reduce_scatter(x.cpu(), *words)).to(x.device)

    functional.all_gather_into_tensor = CalledAs(gather, all_gather_into_tensor)
    functional.reduce_scatter_tensor = CalledAs(reduce_scatter, reduce_scatter_tensor)


def load(options):
    """Imports torch's file as a module, so that the processes that torch starts find its classes."""
    gpus, shared = adapt(options)
    spec = importlib.util.spec_from_file_location(NAME, options.file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    import torch
    from torch.testing._internal.common_distributed import MultiProcContinuousTest, MultiProcessTestCase

    for case in classes(module):
        if issubclass(case, MultiProcContinuousTest):
            told = case._run_test_given_id.__func__

            def run(cls, test_id, told=told, **words):
                try:
                    told(cls, test_id, **words)
                except Exception:
                    traceback.print_exc()
                    end_parent_in(10)
                    raise

            case._run_test_given_id = classmethod(run)
        elif not issubclass(case, MultiProcessTestCase):
            case.setUpClass = classmethod(lambda cls: use_backend(options))
            continue
        if shared or issubclass(case, MultiProcContinuousTest):
            case.world_size = options.ranks
        if shared:
            case.device = property(lambda self: torch.device("cuda", self.rank % gpus) if gpus else torch.device("cpu"))
    return module


def classes(module):
    return [each for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, unittest.TestCase) and each.__module__ == NAME]


def tests_of(module):
    for case in classes(module):
        for name in unittest.TestLoader().getTestCaseNames(case):
            test = getattr(case, name)
            skipped = [each.__unittest_skip_why__ for each in (case, test) if getattr(each, "__unittest_skip__", False)]
            yield f"{case.__name__}.{name}", skipped[0] if skipped else None


def run_one(module, name):
    """Runs a test, and prints its result as the last line."""
    case, test = name.split(".")
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite([getattr(module, case)(test)]))
    if result.skipped:
        said = ["can't run", result.skipped[0][1]]
    elif result.wasSuccessful() and result.testsRun == 1:
        said = ["passed", ""]
    else:
        said = ["failed", ""]
    print(json.dumps({"result": said}), flush=True)


# ---- in the process that prints the table ---------------------------------------------------------------------------


def end(process):
    """Ends a test and the ranks that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def call(options, words, log, limit):
    """Runs this file with the given arguments. Returns its output, and whether it has ended in time."""
    with open(log, "w+b") as out:
        process = subprocess.Popen([sys.executable, __file__, *words], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(limit)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        end(process)
        out.seek(0)
        return out.read().decode(errors="replace"), ended


def why(output):
    """Returns the last line of the output that names an error."""
    lines = [line.strip() for line in output.splitlines() if re.match(r"\s*(\w+\.)*\w*(Error|Exception)\b.*:", line)]
    lines = [line for line in lines if "Exception in worker process" not in line and "exited with error code" not in line] or lines
    return lines[-1][:200] if lines else (output.strip().splitlines() or ["no output"])[-1][:200]


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, each) for each in patterns.split(","))


def short(reason):
    for part, name in REASONS.items():
        if part in reason:
            return name
    return reason


def measure(options, name, folder, until, limit):
    left = until - time.monotonic()
    if left < 5:
        return "not run", "no time was left", 0.0
    began = time.monotonic()
    limit = min(limit, left)
    output, ended = call(options, [*sys.argv[1:], "--one", name], folder / f"{name}.txt", limit)
    took = time.monotonic() - began
    said = [json.loads(line)["result"] for line in output.splitlines() if line.startswith('{"result"')]
    if not ended:
        return "failed", f"did not end within {limit:.0f} s: {why(output)}", took
    if not said:
        return "failed", f"its process ended: {why(output)}", took
    status, reason = said[-1]
    return status, why(output) if status == "failed" else short(reason), took


def main():
    options = options_of(sys.argv[1:])
    folder = pathlib.Path(os.environ.get("OUT") or tempfile.mkdtemp(prefix="torch_own."))
    until = time.monotonic() + options.total
    output, ended = call(options, [*sys.argv[1:], "--list"], folder / "list.txt", min(options.limit, options.total))
    listed = [json.loads(line) for line in output.splitlines() if line.startswith('{"about"') or line.startswith('{"test"')]
    if not ended or not listed:
        print(f"torch's file can't be read by the torch that is there: {why(output)}")
        return 2
    print(listed[0]["about"], flush=True)
    found = {each["test"]: ("can't run", short(each["skip"]), 0.0) if each["skip"] else None for each in listed[1:]}
    found = {name: known for name, known in found.items() if matches(name, options.only) and not matches(name, options.leave_out)}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        begun = {name: pool.submit(measure, options, name, folder, until, options.limit) for name, known in found.items() if known is None}
        found.update({name: outcome.result() for name, outcome in begun.items()})
    for name in [name for name, (status, *_) in found.items() if status == "failed"]:  # alone this time
        status, reason, took = measure(options, name, folder, until, options.limit / 2)
        if status != "not run":
            found[name] = status, "alone, after it had failed beside others" if status == "passed" else reason, took
    # Tests of one function with different parameters are one line if they have the same result.
    functions = sorted(re.findall(r"^    def (test_\w+)", options.file.read_text(), re.MULTILINE), key=len, reverse=True)
    lines = {}
    for name, (status, reason, took) in found.items():
        case, test = name.split(".")
        base = f"{case}.{next(each for each in functions if test.startswith(each))}"
        lines.setdefault((base, status, reason), []).append((test, took))
    for (base, status, reason), tests in lines.items():
        took = f"{max(seconds for _, seconds in tests):3.0f} s" if status in ("passed", "failed") else "     "
        print(f"{status:9}  {took}  {base}{f' x {len(tests)}' if len(tests) > 1 else ''}{f': {reason}' if reason else ''}")
    counts = {status: sum(each[0] == status for each in found.values()) for status in ("passed", "failed", "can't run", "not run")}
    print(f"{options.backend}, {options.ranks} ranks: {len(found)} tests: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    if counts["failed"] or counts["not run"]:
        print(f"output: {folder}")
        return 1
    return 0 if counts["passed"] else 2


# torch starts ranks as processes that import this file again
if __name__ == "__mp_main__" or "--one" in sys.argv or "--list" in sys.argv:
    its_options = options_of(sys.argv[1:])
    its_module = load(its_options)
    if __name__ == "__main__":
        if its_options.list:
            import torch as torch_that_runs

            gpus = torch_that_runs.cuda.device_count()
            shared = its_options.ranks > gpus
            print(json.dumps({"about": f"torch {torch_that_runs.__version__}, {its_options.ranks} ranks on {gpus} GPUs"
                                       f"{' (shared)' if shared else ''}, backend {its_options.backend}"}))
            for its_test, its_skip in tests_of(its_module):
                print(json.dumps({"test": its_test, "skip": its_skip}))
        else:
            run_one(its_module, its_options.one)
elif __name__ == "__main__":
    sys.exit(main())
