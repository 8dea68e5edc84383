"""Lets the tests import the modules of this folder."""

import ctypes
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU")


def gpus() -> int:
    """Returns the number of GPUs; 0 if there is no driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    return count.value if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 else 0


def pytest_collection_modifyitems(items):
    """Skips the tests that need a GPU if there is no GPU."""
    of_gpus = [item for item in items if item.get_closest_marker("gpu")]
    if of_gpus and not gpus():
        for item in of_gpus:
            item.add_marker(pytest.mark.skip(reason="no GPU"))
