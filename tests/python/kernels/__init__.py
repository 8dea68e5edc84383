"""Tests of kernels written in Python: a package, so that its modules and those of tests/python may have the same names."""
