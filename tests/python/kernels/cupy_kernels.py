"""The kernels of conformance.py in CUDA C++, compiled by NVRTC and launched by CuPy."""

import os

LIBRARY = "cupy"
SOURCE = r"""
#include <pgas/device.hpp>

using pgas::block;
using pgas::cmp;
using pgas::signal_op;
using pgas::signal_t;

template <class T>
__global__ void put(pgas::context ctx, T* dst, const T* src, int count, int pe) {
  pgas::put(ctx, block(), dst, src, count, pe);
}

template <class T>
__global__ void get(pgas::context ctx, T* dst, const T* src, int count, int pe) {
  pgas::get(ctx, block(), dst, src, count, pe);
}

extern "C" __global__ void ring(pgas::context ctx, int* dst, int* src, int count, signal_t* arrived, signal_t* taken, int rounds) {
  const int n = ctx.n_pes();
  const int right = (ctx.my_pe() + 1) % n;
  const int left = (ctx.my_pe() + n - 1) % n;
  for (int i = 0; i < rounds; ++i) {
    pgas::wait_until(ctx, block(), taken, cmp::ge, signal_t(i));
    pgas::put_signal(ctx, block(), dst, src, count, arrived, i + 1, signal_op::set, right);
    pgas::wait_until(ctx, block(), arrived, cmp::ge, signal_t(i + 1));
    for (int k = threadIdx.x; k < count; k += blockDim.x) src[k] = dst[k] + 1;
    pgas::fence(ctx, block());
    pgas::signal_add(ctx, block(), taken, 1, left);
  }
}

extern "C" __global__ void add(pgas::context ctx, signal_t* word, long long value, int pe) {
  if (threadIdx.x == 0) pgas::atomic_add(ctx, word, signal_t(value), pe);
}

extern "C" __global__ void barriers(pgas::context ctx, long long* words, long long* wrong, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x < ctx.n_pes()) *ctx.remote(words + ctx.my_pe(), threadIdx.x) = i + 1;
    pgas::barrier(ctx, block());
    if (threadIdx.x < ctx.n_pes() && words[threadIdx.x] != i + 1) *wrong += 1;
    pgas::barrier(ctx, block());
  }
}

extern "C" __global__ void wait(pgas::context ctx, signal_t* word, long long value) {
  pgas::wait_until(ctx, block(), word, cmp::ge, signal_t(value));
}

extern "C" __global__ void signals(pgas::context ctx, signal_t* word, long long* out, int pe) {
  pgas::signal_set(ctx, block(), word, 40, pe);
  pgas::wait_until(ctx, block(), word, cmp::ge, signal_t{40});
  pgas::barrier(ctx, block());
  pgas::signal_add(ctx, block(), word, 2, pe);
  pgas::wait_until(ctx, block(), word, cmp::eq, signal_t{42});
  if (threadIdx.x == 0) *out = pgas::signal_fetch(ctx, word);
}
"""
TEMPLATES = {"put": {"int32": "put<int>", "float32": "put<float>"}, "get": {"int32": "get<int>", "float32": "get<float>"}}
SCALARS = {"put": "ii", "get": "ii", "ring": "ii", "add": "qi", "barriers": "i", "wait": "q", "signals": "i"}


class Launcher:
    def __init__(self, world):
        import cupy
        import numpy

        import pgas.cupy

        cupy.cuda.Device(world.device).use()
        direct = bool(os.environ.get("DIRECT"))
        self.context = pgas.cupy.direct_context(world) if direct else pgas.cupy.context(world)
        self.types = {"i": numpy.int32, "q": numpy.int64}
        self.module = pgas.cupy.raw_module(SOURCE.replace("pgas::context ctx", "pgas::direct_context ctx") if direct else SOURCE,
                                             name_expressions=[each for of in TEMPLATES.values() for each in of.values()])

    def __call__(self, name, *arguments):
        function = name if name not in TEMPLATES else TEMPLATES[name][str(arguments[0].dtype)]
        types = iter(SCALARS[name])
        arguments = [each if hasattr(each, "dtype") else self.types[next(types)](each) for each in arguments]
        self.module.get_function(function)((1,), (128,), (self.context, *arguments))

    def wait(self):
        import cupy

        cupy.cuda.runtime.deviceSynchronize()
