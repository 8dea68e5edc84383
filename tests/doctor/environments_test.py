"""In each environment with an error, the doctor's row and its fix are correct, and programs do what the row predicts:
they run, or they fail.

    environments_test.py DOCTOR PGASRUN PGAS-PERF WITHOUT_CALLS OLD_LIBUCP MAD_LIBUCP WITH_UCX WITH_CUDA
"""
import concurrent.futures
import os
import shutil
import sys
import tempfile
import unittest

import jobs
from environments import MOUNTS, environments

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "multi_host"))
import hosts

AT_ONCE = 4  # the number of jobs at the same time; most of them only wait
WITH_UCX = WITH_CUDA = False


def reason_to_skip(name, environment):
    if environment.needs and not jobs.allowed(list(environment.needs)):
        return f"this machine does not allow: {' '.join(environment.needs)}"
    if environment.mounts and not jobs.allowed(MOUNTS):
        return "this machine does not allow mount namespaces"
    if environment.variables.get("PGAS_P2P") == "0" and not WITH_UCX:
        return "this build has no UCX"
    if environment.gpu and not (WITH_CUDA and jobs.has_gpu()):
        return "there is no GPU, or this build can't use it"
    if name == "different_heaps" and WITH_CUDA and jobs.has_gpu():
        return "it is about machines without GPUs"
    return None


def start(environment, program):
    words = jobs.command([*environment.all_pes, *program], environment.wrap)
    if environment.mounts:
        words = jobs.in_mounts(environment.mounts, words)
    return jobs.run(words, environment.variables)


class Environments(unittest.TestCase):
    """A test for each environment, made below. All jobs are started before the first test examines its own job."""
    directory = None
    pool = None
    all_of_them: dict = {}
    running: dict = {}

    @classmethod
    def setUpClass(cls):
        cls.pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
        for name, environment in cls.all_of_them.items():
            skipped = reason_to_skip(name, environment)
            work = [None, None]
            if skipped is None:
                work[0] = cls.pool.submit(start, environment, [jobs.DOCTOR, "--json"])
                work[1] = cls.pool.submit(start, environment, [jobs.PROGRAM, *jobs.SMALL])
            cls.running[name] = (environment, skipped, *work)

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown(cancel_futures=True)

    def look_at(self, name):
        environment, skipped, doctor, program = self.running[name]
        if skipped is not None:
            self.skipTest(skipped)
        found = jobs.Diagnosis(doctor.result())
        row = found.worst(environment.row)
        self.assertIsNotNone(row, f"no row {environment.row}\n{found.text}")
        self.assertIn(row["verdict"], environment.verdict.split("|"), found.text)
        self.assertTrue(any(environment.fix in each["fix"] for each in found.rows(environment.row)), found.text)
        if environment.verdict != "ok":
            self.assertTrue(row["means"], found.text)
        fails = found.document["verdict"] == "fails"
        self.assertEqual(found.job.returncode != 0, fails, found.text)
        job = program.result()
        runs = job.returncode == 0
        if environment.runs is not None:
            self.assertEqual(runs, environment.runs, f"{job.stdout}{job.stderr}\n{found.text}")
        if not runs and environment.says:
            errors = [line for line in job.stderr.splitlines() if "PGAS-E" in line]
            self.assertTrue(any(environment.says in line for line in errors), job.stdout + job.stderr)
        self.assertEqual(fails, not runs, f"the doctor predicts something else than\n{job.stdout}{job.stderr}\n{found.text}")


class FewProcesses(unittest.TestCase):
    """A limit on the processes of a user, which does not bind root."""

    def test_no_pe_is_aborted(self):
        as_user = ["setpriv", "--reuid", "61234", "--clear-groups"]
        for needed in (["test", "-x", jobs.PROGRAM], ["test", "-x", jobs.PGASRUN], ["true"]):
            if not jobs.allowed([*as_user, *needed]):
                self.skipTest("another user can't run the programs")
        for limit in range(3, 15):
            with self.subTest(limit=limit):
                job = jobs.run(jobs.command([jobs.PROGRAM, *jobs.SMALL]), {"PGAS_P2P": "0"}, [*as_user, "prlimit", f"--nproc={limit}:{limit}", "--"])
                self.assertNotIn("signal 6", job.stderr)
                self.assertNotIn("Assertion", job.stderr)
                if job.returncode != 0:
                    self.assertRegex(job.stderr, "PGAS-E07|fork")


class Sound(unittest.TestCase):
    """In an environment without an error, no row reports one, and programs run."""

    def test_under_pgasrun(self):
        found = jobs.Diagnosis(jobs.run(jobs.command([jobs.DOCTOR, "--json"])))
        self.assertEqual(found.job.returncode, 0, found.text)
        for row in found.document["rows"]:
            if row["name"] not in ("CPUs", "container", "library"):  # small or limited machines have problems here
                self.assertNotEqual(row["verdict"], "fails", found.text)
        self.assertEqual((found.document["pes"], found.document["hosts"]), (2, 1))
        self.assertEqual([(pair["from"], pair["to"], pair["direct"]) for pair in found.document["pairs"]],
                         [(0, 0, True), (0, 1, True), (1, 0, True), (1, 1, True)])
        self.assertTrue(all(pair["gigabytes_per_second"] > 0 for pair in found.document["pairs"]), found.text)

    def test_under_mpirun(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not installed")
        found = jobs.Diagnosis(jobs.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", jobs.DOCTOR, "--json"]))
        if "without PMIx" in found.text:
            self.skipTest("this build has no PMIx")
        self.assertEqual(found.job.returncode, 0, found.text)
        self.assertEqual(found.document["pes"], 2)
        self.assertIn("PMIx", found.document["started"])

    def test_mpirun_without_libpmix(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not installed")
        with tempfile.TemporaryDirectory() as empty:
            for name in ("libpmix.so.2", "libpmix.so"):
                with open(os.path.join(empty, name), "w", encoding="utf-8"):
                    pass
            for program, arguments in ((jobs.DOCTOR, ["--json"]), (jobs.PROGRAM, jobs.SMALL)):
                words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "env", f"LD_LIBRARY_PATH={empty}",
                         program, *arguments]
                job = jobs.run(words)
                self.assertNotEqual(job.returncode, 0, job.stdout + job.stderr)
                if program == jobs.DOCTOR:
                    found = jobs.Diagnosis(job)
                    row = found.worst("launcher")
                    self.assertEqual(row and row["verdict"], "fails", found.text)
                    self.assertIn("PMIx", row["fix"] + row["found"], found.text)

    def test_srun_without_pmix(self):
        found = jobs.Diagnosis(jobs.run([jobs.DOCTOR, "--json", "--quick"],
                                        {"SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_NTASKS": "4"}))
        row = found.worst("launcher")
        self.assertEqual((row["verdict"], found.job.returncode), ("fails", 1), found.text)
        self.assertIn("srun --mpi=pmix", row["fix"])


class TwoHosts(unittest.TestCase):
    """Two PEs in separate network namespaces, with a cable between them."""

    def start(self, pair, program, variables):
        spaces = " ".join(pair.spaces)
        script = f'set -- "$@"; for space in {spaces}; do test "$n" = "$PGAS_RANK" && exec ip netns exec $space "$@"; n=1; done'
        return jobs.run([jobs.PGASRUN, "-n", "2", "sh", "-c", f"n=0; {script}", "sh", *program], variables)

    def look_at(self, spoil, row, verdict, fix, runs, **variables):
        if not WITH_UCX:
            self.skipTest("this build has no UCX")
        variables = {"PGAS_PRIVATE_NETWORK": "1"} | variables
        try:
            with hosts.two_hosts() as pair:
                spoil(pair)
                found = jobs.Diagnosis(self.start(pair, [jobs.DOCTOR, "--json"], variables))
                job = self.start(pair, [jobs.PROGRAM, *jobs.SMALL], variables)
        except hosts.CannotMakeHosts as why:
            self.skipTest(str(why))
        said = found.worst(row)
        self.assertEqual(said and said["verdict"], verdict, found.text)
        self.assertTrue(any(fix in each["fix"] for each in found.rows(row)), found.text)
        self.assertEqual(found.document["hosts"], 2)
        self.assertEqual(found.document["verdict"] != "fails", runs, found.text)
        self.assertEqual(job.returncode == 0, runs, f"{job.stdout}{job.stderr}\n{found.text}")
        return found

    def test_a_network_between_them(self):
        found = self.look_at(lambda pair: None, "proxied PEs", "slow", "PGAS_SOCKET_DIR", True)
        self.assertIn("tcp/eth0", found.worst("proxied PEs")["found"], found.text)
        self.assertEqual(found.worst("ports")["verdict"], "ok", found.text)

    def test_a_network_that_is_not_private(self):
        self.look_at(lambda pair: None, "UCX", "fails", "PGAS_PRIVATE_NETWORK=1", False, PGAS_PRIVATE_NETWORK="0")

    def test_blocked_ports(self):
        def block(pair):
            hosts.run("ip", "-n", pair.spaces[0], "rule", "add", "to", hosts.ADDRESSES[1], "prohibit", "pref", "10")
        self.look_at(block, "ports", "fails", "firewall-cmd --add-port=", False, PGAS_JOIN_TIMEOUT="6s")

    def test_a_host_that_is_cut_off(self):
        self.look_at(lambda pair: pair.cut(), "ports", "fails", "ip -br address", False, PGAS_JOIN_TIMEOUT="6s")

    def test_one_domain_needs_no_ucx(self):
        with tempfile.TemporaryDirectory() as empty:
            with open(os.path.join(empty, "libucp.so.0"), "w", encoding="utf-8"):
                pass
            self.look_at(lambda pair: None, "UCX", "unknown", "libucx0", True, PGAS_MEM_HANDLE="named", LD_LIBRARY_PATH=empty)


def add_tests():
    Environments.directory = tempfile.mkdtemp(prefix="pgas-doctor-")
    os.chmod(Environments.directory, 0o755)  # some of the jobs belong to another user
    Environments.all_of_them = environments(Environments.directory)
    for name in Environments.all_of_them:
        setattr(Environments, f"test_{name}", lambda self, name=name: self.look_at(name))


if __name__ == "__main__":
    (jobs.DOCTOR, jobs.PGASRUN, jobs.PROGRAM, jobs.WITHOUT_CALLS, jobs.OLD_UCP, jobs.MAD_UCP, ucx, cuda) = sys.argv[1:9]
    WITH_UCX, WITH_CUDA = ucx == "ON", cuda == "ON"
    add_tests()
    try:
        unittest.main(argv=sys.argv[:1] + sys.argv[9:], verbosity=2)
    finally:
        shutil.rmtree(Environments.directory, ignore_errors=True)
