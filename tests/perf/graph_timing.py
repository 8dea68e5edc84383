"""Takes times for the scripts that compare with NCCL: calls in a CUDA graph, on one stream, which all GPUs begin
together."""
import torch
import torch.distributed as dist

TOGETHER, WARM = 24, 3
SLEEP = 1_000_000  # cycles, after an all-reduce, in which the hosts enqueue the work that all GPUs begin together


def capture(call):
    """Returns a graph of TOGETHER calls on the current stream, which must not be the default stream."""
    for _ in range(WARM):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream(), capture_error_mode="thread_local"):
        for _ in range(TOGETHER):
            call()
    return graph


def microseconds(calls, token):
    """Returns the microseconds of each of the TOGETHER calls that calls() enqueues. All ranks call the function;
    `token` is a tensor of one number."""
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(SLEEP)
    dist.all_reduce(token)
    begin.record()
    calls()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000 / TOGETHER
