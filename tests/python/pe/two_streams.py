"""Collectives of one team on two streams at the same time, on the host heap or on GPUs: pgasrun -n 2 python
two_streams.py"""

import os
import sys

import pgas

on_gpu = os.environ.get("PGAS_HEAP") != "host"
like = "torch" if on_gpu else "numpy"
if on_gpu:
    import torch

    torch.cuda.set_device(int(os.environ.get("PGAS_RANK") or 0) % torch.cuda.device_count())
rounds, count = 100, 1000

with pgas.join(like=like, device=torch.cuda.current_device() if on_gpu else None, wait_timeout=30) as world:
    me, n = world.my_pe, world.n_pes
    for team in (world, world.team.split(0)):
        streams = [world.stream(), world.stream()]
        arrays = [world.zeros((rounds, count), "int64") for _ in streams]
        for k, x in enumerate(arrays):
            for i in range(rounds):
                x[i] = (k + 1) * (me + i)
        world.synchronize() if on_gpu else None
        world.barrier(stream=None)
        for i in range(rounds):
            for k, (stream, x) in enumerate(zip(streams, arrays)):
                team.all_reduce(x[i], stream=stream)
        for stream in streams:
            stream.synchronize()
        for k, x in enumerate(arrays):
            for i in range(rounds):
                assert (x[i] == (k + 1) * (n * (n - 1) // 2 + n * i)).all(), (k, i, x[i])
        assert team.n_pes == n
    print(f"PE {me} is content", flush=True)
