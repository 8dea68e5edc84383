"""The round trip of put_signal in Triton stays within 10 % of the same loop in CUDA C++ (latency.py)."""

import json
import re

import pytest

from kernel_jobs import need, run


@pytest.mark.gpu
def test_a_round_trip_takes_no_more_than_ten_percent_over_cuda():
    need("triton")
    need("cupy")
    done = run("latency.py", n_pes=2, PGAS_HEAP="cuda")
    found = [json.loads(line) for line in re.findall(r"^\{.*\}$", done.stdout, flags=re.M)]
    assert len(found) == 3, done.stdout + done.stderr
    for each in found:
        assert each["ratio"] <= 1.1, found
    assert done.returncode == 0, done.stdout + done.stderr
