#!/usr/bin/env python3
"""Measures NCCL's times for the communication of examples/25_allreduce and 24_moe, for comparison: with torch, one
process per GPU, in CUDA graphs.

    beside_nccl.py 4          the number of GPUs

Prints comma-separated values: operation, PEs, bytes of a PE, and microseconds of a call, which is the median of 15
replays of a graph of 24 calls. `all_reduce+layer` is an all-reduce, the addition of the residual, and the RMS
normalization, with torch's kernels. `all_to_all` moves as many bytes as 24_moe's dispatch with its usual layer, in
equal parts.
"""
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import graph_timing

ROW = 4096  # numbers per row, as in 25_allreduce
TOKEN, TOP_K = 7168, 8  # as in 24_moe
REPLAYS = 15


def microseconds(call, token):
    """Returns the microseconds of one call. All ranks call the function."""
    graph = graph_timing.capture(call)
    taken = [graph_timing.microseconds(graph.replay, token) for _ in range(graph_timing.WARM + REPLAYS)]
    return statistics.median(taken[graph_timing.WARM:])


def run(rank, n):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29700 + n))
    torch.cuda.set_device(rank)
    torch.cuda.set_stream(torch.cuda.Stream())  # one stream for all calls, as in torch_beside_nccl.py
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", rank=rank, world_size=n, device_id=device)

    def say(*words):
        if rank == 0:
            print(*words, sep=",", flush=True)

    def numbers(*shape):
        return torch.rand(*shape, device=device).bfloat16()

    x = torch.full((ROW,), rank + 1.0, device=device, dtype=torch.bfloat16)
    dist.all_reduce(x)
    token = torch.zeros(1, device=device)
    assert (x == n * (n + 1) // 2).all(), "the sum is wrong"
    say("what", "pes", "bytes", "us")
    for kib in (8, 32, 128, 512, 2048, 8192):
        rows = kib * 512 // ROW
        x, residual, weight = numbers(rows, ROW), numbers(rows, ROW), numbers(ROW)

        def layer(x=x, residual=residual, weight=weight):
            dist.all_reduce(x)
            hidden = x + residual
            return hidden, torch.nn.functional.rms_norm(hidden, (ROW,), weight, 1e-5)

        say("all_reduce", n, kib * 1024, f"{microseconds(lambda x=x: dist.all_reduce(x), token):.2f}")
        say("all_reduce+layer", n, kib * 1024, f"{microseconds(layer, token):.2f}")
    for tokens in (1, 16, 128, 4096):
        x = numbers(tokens * TOP_K, TOKEN)
        y = torch.empty_like(x)
        say(f"all_to_all of {tokens} tokens", n, x.numel() * 2, f"{microseconds(lambda x=x, y=y: dist.all_to_all_single(y, x), token):.2f}")
    dist.barrier()
    torch.cuda.synchronize()
    sys.stdout.flush()
    os._exit(0)  # otherwise graphs outlive the communicator


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    mp.spawn(run, (int(sys.argv[1]),), int(sys.argv[1]))
