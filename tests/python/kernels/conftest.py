"""Finds the helpers beside the tests, and the package in the sources where it is not installed."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
try:
    import pgas  # noqa: F401
except ImportError:
    sys.path.append(str(HERE.parents[2] / "python"))


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU")


def pytest_collection_modifyitems(items):
    """A test that has no GPU is skipped, never passed."""
    found = None
    for item in items:
        if item.get_closest_marker("gpu"):
            if found is None:
                found = pathlib.Path("/dev/nvidiactl").exists() or pathlib.Path("/dev/nvidia-uvm").exists()
            if not found:
                item.add_marker(pytest.mark.skip(reason="no GPU"))
