"""Tests of kernels written in Python. This folder is a package, so its modules may have the same names as modules of
tests/python."""
