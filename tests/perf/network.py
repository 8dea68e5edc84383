"""Compares the proxy with the network alone: runs pgas-perf and ucx_perftest over the same interface, alternately, and
prints the ratio.

    network.py PGAS_PERF [--rounds 5] [--only put_bw]

| what | pgas | UCX by itself |
| --- | --- | --- |
| put_bw | put_bw of 4 MiB between two hosts (network namespaces), over TCP | ucp_put_bw of the same size |
| put_rate | put_rate of 8 bytes between the two hosts | ucp_put_bw of 8 bytes, its message rate |
| put_signal | put_signal_pp of 8 bytes on one host with PGAS_P2P=0: a round trip over shared memory | twice tag_lat |

Needs root for the namespaces (except put_signal), ucx_perftest (ucx-utils), and an idle machine: on both sides of pgas,
one thread runs the kernel and one thread is the proxy, and all of them poll.
"""
import argparse
import itertools
import json
import os
import shlex
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "multi_host"))
import hosts  # noqa: E402

TIME_LIMIT = 60  # seconds for a run
PORTS = itertools.count(29600)


def run_together(*commands):
    """Returns what the processes have printed. All processes must succeed, and none continues to run."""
    processes = []
    try:
        for words in commands:
            processes.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            time.sleep(0.3)  # the process that starts first is the server
        texts = [process.communicate(timeout=TIME_LIMIT)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    for process, text in zip(processes, texts):
        if process.returncode != 0:
            raise RuntimeError(f"{shlex.join(process.args)}: {text}")
    return texts


def shell(environment, words):
    return "exec " + shlex.join(["env", *(f"{name}={value}" for name, value in environment.items()), *words])


def ucx(places, address, transports, test, size, iterations):
    """Runs ucx_perftest between two network namespaces. `places` has a function for each of them, which makes a command
    line from a shell command. Returns (latency in us, bandwidth in MB/s, messages per second) over the whole run."""
    environment = {"UCX_TLS": transports}
    server = ["ucx_perftest", "-p", str(next(PORTS))]
    client = [*server, address, "-t", test, "-s", str(size), "-n", str(iterations), "-f", "-v"]
    _, text = run_together(places[0](shell(environment, server)), places[1](shell(environment, client)))
    fields = text.strip().splitlines()[-1].split(",")
    return float(fields[3]), float(fields[5]), float(fields[7])


def row(places, address, pgas_perf, arguments, settings):
    """Returns the median of one row of pgas-perf between two network namespaces, as ucx() does for ucx_perftest."""
    common = {"PGAS_HEAP": "host", "PGAS_SECRET": "of this benchmark", "MASTER_ADDR": address, "MASTER_PORT": str(next(PORTS)),
              "WORLD_SIZE": "2", **settings}
    words = [pgas_perf, *arguments, "-r", "1", "--ms", "300", "--json", "-"]
    text = run_together(*(place(shell({**common, "RANK": str(pe)}, words)) for pe, place in enumerate(places)))[0]
    found = json.loads(text[text.index("{"):])["results"][0]
    if found["wrong"] != 0:
        raise RuntimeError(f"{arguments[0]}: {found['wrong']} words are wrong")
    return found["median"]


class Comparison:
    """Two ways to measure the same figure, run alternately."""

    def __init__(self, name, unit, target, ours, theirs, more_is_better):
        self.name, self.unit, self.target = name, unit, target
        self.ways = (ours, theirs)
        self.more_is_better = more_is_better

    def run(self, rounds):
        figures = ([], [])
        for _ in range(rounds):
            for way, found in zip(self.ways, figures):
                found.append(way())
        ours, theirs = (statistics.median(found) for found in figures)
        ratio = ours / theirs
        met = ratio >= self.target if self.more_is_better else ratio <= self.target
        spread = ", ".join(f"{who} {min(found):.4g} to {max(found):.4g}" for who, found in zip(("pgas", "ucx"), figures))
        print(f"{self.name:<12} pgas {ours:8.4g} {self.unit}, ucx {theirs:8.4g} {self.unit}: ratio {ratio:.2f}, wanted "
              f"{'>=' if self.more_is_better else '<='} {self.target}: {'met' if met else 'MISSED'}   ({spread})", flush=True)
        return met


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pgas_perf")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only")
    asked = parser.parse_args()
    program = os.path.abspath(asked.pgas_perf)
    tcp, shared = {"UCX_TLS": "tcp,self"}, {"UCX_TLS": "sm,self", "PGAS_P2P": "0"}
    if asked.only in (None, "put_signal"):
        here = [lambda command: ["sh", "-c", command]] * 2
        Comparison("put_signal", "us", 3,
                   lambda: row(here, "127.0.0.1", program, ["put_signal_pp", "-b", "8", "-e", "8"], shared),
                   lambda: 2 * ucx(here, "127.0.0.1", shared["UCX_TLS"], "tag_lat", 8, 100000)[0], False).run(asked.rounds)
    if asked.only == "put_signal":
        return 0
    try:
        with hosts.two_hosts() as pair:
            apart = [lambda command, host=host: pair.on(host, command) for host in (0, 1)]
            address, large = hosts.ADDRESSES[0], 4 << 20
            comparisons = [
                Comparison("put_bw", "GB/s", 0.85,
                           lambda: row(apart, address, program, ["put_bw", "-b", str(large), "-e", str(large)], tcp),
                           # UCX's MB are 2^20 bytes
                           lambda: ucx(apart, address, tcp["UCX_TLS"], "ucp_put_bw", large, 300)[1] * 2**20 / 1e9, True),
                Comparison("put_rate", "Mop/s", 0.7,
                           lambda: row(apart, address, program, ["put_rate", "-b", "8", "-e", "8"], tcp),
                           lambda: ucx(apart, address, tcp["UCX_TLS"], "ucp_put_bw", 8, 500000)[2] / 1e6, True),
            ]
            for each in comparisons:
                if asked.only in (None, each.name):
                    each.run(asked.rounds)
    except hosts.CannotMakeHosts as why:
        print(f"skipped: {why}")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
