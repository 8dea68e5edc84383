"""Finds the helpers beside the tests, and the package in the sources where it is not installed."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
ROOT = HERE.parents[2]
try:
    import pgas
except ImportError:
    sys.path.append(str(ROOT / "python"))
    import pgas
if not hasattr(pgas, "include_dirs"):  # a folder of sources, without the extension
    pgas.include_dirs = lambda: [ROOT / "include"]


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
