"""pgas.compile_options(), which importing pgas does not load: it looks for CUDA's headers."""

from pgas.nvrtc import compile_options

__all__ = ["compile_options"]
