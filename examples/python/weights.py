"""A trainer hands new versions of its weights to engines that shard them in another way: the trainer is a job of M PEs with
some rows of every tensor, each engine is a program with some columns. The C++ program 27_weights.cpp does the same and
explains the protocol.

    pgasrun -n M python weights.py train FOLDER VERSIONS ENGINES
    python weights.py serve FOLDER NUMBER ENGINES VERSIONS

The arrays are torch tensors on a GPU if PGAS_HEAP is cuda, and NumPy arrays in host memory otherwise.
"""

import os
import secrets
import sys
import time

import pgas
from kv_cache import GPU, LIBRARY, LOST, read_lines, step, write_lines

SHAPES = {f"layer{t}.weight": (32 + t * 37 % 101, 64 + t * 53 % 211) for t in range(20)}


def part_of(whole, part, parts):
    return slice(whole * part // parts, whole * (part + 1) // parts)


def number_of(version, tensor):
    """The content of a tensor."""
    return version * len(SHAPES) + tensor


def train(folder, versions, engines, pause):
    with pgas.join() as world:
        me, n = world.my_pe, world.n_pes
        gpu = None if GPU is None else world.device
        rows = {name: part_of(shape[0], me, n) for name, shape in SHAPES.items()}
        state = [{name: pgas.shared_empty((rows[name].stop - rows[name].start, shape[1]), "int32", device=gpu, like=LIBRARY)
                  for name, shape in SHAPES.items()} for _ in range(2)]
        writing, ready = pgas.Timeline(gpu), pgas.Timeline(gpu)
        job = world.full(1, secrets.randbelow(1 << 62) if me == 0 else 0, "int64")
        world.all_reduce(job, "max")
        world.synchronize()
        write_lines(f"{folder}/trainer{me}", [int(job[0]), n, *(pgas.share(each) for each in state), writing.ticket(), ready.ticket()])
        # A restarted job writes its last version again, for engines that do not have this version yet.
        for v in range(max(int((read_lines(f"{folder}/checkpoint") or [1])[0]), 1), versions + 1):
            step()
            writing.set(v)
            for t, name in enumerate(SHAPES):
                state[v % 2][name][...] = number_of(v, t)
            step()
            ready.record(v)
            ready.wait_host(v)
            world.barrier(stream=None)
            if me == 0:
                write_lines(f"{folder}/checkpoint", [v])
            step()
            time.sleep(pause)
        for engine in range(engines):
            while int((read_lines(f"{folder}/engine{engine}") or [0])[0]) < versions:
                time.sleep(0.005)
        world.barrier(stream=None)


class Engine:
    def __init__(self, folder, number, engines, versions):
        self.folder, self.number, self.versions = folder, number, versions
        self.columns = {name: part_of(shape[1], number, engines) for name, shape in SHAPES.items()}
        self.buffers = [{name: pgas.shared_empty((shape[0], self.columns[name].stop - self.columns[name].start), "int32", device=GPU, like=LIBRARY)
                         for name, shape in SHAPES.items()} for _ in range(2)]
        self.version = self.used = self.updates = self.late = self.wrong = 0

    def find_trainer(self, lost):
        """Opens the offers of a job other than `lost`. Empty if there is no complete offer."""
        found, pe, n = [], 0, 1
        while pe < n:
            lines = read_lines(f"{self.folder}/trainer{pe}")
            if len(lines) != 6 or lines[0] == lost or (found and lines[0] != found[0][0]):
                return []
            n = int(lines[1])
            found.append((lines[0], [pgas.open(ticket, device=GPU) for ticket in lines[2:4]],
                          *(pgas.Timeline.open(ticket, device="host" if GPU is None else GPU) for ticket in lines[4:])))
            step()
            pe += 1
        return found

    def update(self, trainer, version):
        """Copies a version into the buffer that is not in use. Returns whether the buffer contains exactly this version."""
        for pe, (_, state, _, _) in enumerate(trainer):
            for name, shape in SHAPES.items():
                rows = part_of(shape[0], pe, len(trainer))
                pgas.copy_list(self.buffers[1 - self.used][name][rows], state[version % 2][name][:, self.columns[name]])
            step()
        if GPU is not None:
            import torch

            torch.cuda.synchronize()
        for _, _, writing, ready in trainer:
            ready.check()
            if writing.query() >= version + 2:
                return False
        step()
        self.used, self.version = 1 - self.used, version
        return True

    def inspect(self):
        if self.version > 0:
            self.wrong += sum(int((self.buffers[self.used][name] != number_of(self.version, t)).sum()) for t, name in enumerate(SHAPES))

    def run(self):
        lost, trainer = None, []
        while self.version < self.versions:
            try:
                if not trainer:
                    trainer = self.find_trainer(lost)
                    time.sleep(0 if trainer else 0.005)
                    continue
                newest = min([self.versions, *(ready.query() for _, _, _, ready in trainer)])
                if newest > self.version:
                    self.updates += 1
                    self.late += not self.update(trainer, newest)
                else:
                    for _, _, _, ready in trainer:
                        ready.check()
                    time.sleep(0.0005)
            except pgas.Error as failed:
                if failed.code not in LOST:
                    raise
                if trainer:
                    print(f"engine {self.number} keeps version {self.version}:", failed)
                    lost = trainer[0][0]
                trainer = []
                time.sleep(0.005)
            self.inspect()
        write_lines(f"{self.folder}/engine{self.number}", [self.version])
        print(f"engine {self.number}: version {self.version}, {self.updates} updates, {self.late} too late, {self.wrong} weights wrong")
        return 0 if self.wrong == 0 else 1


if __name__ == "__main__":
    if len(sys.argv) > 4 and sys.argv[1] == "train":
        train(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5] if len(sys.argv) > 5 else 0) / 1e6)
    elif len(sys.argv) > 5 and sys.argv[1] == "serve":
        sys.exit(Engine(sys.argv[2], *map(int, sys.argv[3:6])).run())
    else:
        sys.exit(__doc__)
