// Kernels with large stacks start while another kernel spins. The memory for their stacks was reserved when the world
// was joined. Otherwise CUDA would enlarge the memory at the first launch of these kernels, and would wait for the
// spinning kernel, which waits for these kernels.
#include <cuda_runtime.h>

#include <cstdio>

#include "must.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

constexpr std::uint64_t patience_ns = 10'000'000'000;

/// Waits for the flag and reports whether it was set.
__global__ void spin(const std::uint64_t* flag, std::uint64_t value, bool* came) {
  const std::uint64_t start = pgas::detail::clock_ns();
  while (!*came && pgas::detail::clock_ns() - start < patience_ns) *came = pgas::detail::load_relaxed(flag) == value;
}

/// A kernel of launch() with a stack beyond CUDA's default limit.
struct hungry {
  template <class Block>
  PGAS_FN void operator()(Block, std::uint64_t* flag, std::uint64_t value, int at) const {
    volatile std::uint64_t stack[512];
    stack[at % 512] = value;
    pgas::detail::store_relaxed(flag, stack[at % 512]);
  }
};

/// Runs `call` while a kernel waits. The last work that `call` enqueues on `on` stores `value` to the flag for which
/// the kernel waits.
template <class Call>
bool beside_a_spinning_kernel(const char* what, std::uint64_t* flag, std::uint64_t value, const Call& call) {
  cudaStream_t own = nullptr;
  must(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "a stream");
  bool* came = nullptr;
  must(cudaHostAlloc(&came, sizeof *came, cudaHostAllocMapped), "cudaHostAlloc");
  *came = false;
  spin<<<1, 1, 0, own>>>(flag, value, came);
  must(cudaGetLastError(), "launching");
  call();
  must(cudaStreamSynchronize(own), "the spinning kernel");
  const bool well = *came;
  if (!well) std::fprintf(stderr, "%s waited for the kernel that waited for it\n", what);
  must(cudaFreeHost(came), "cudaFreeHost");
  must(cudaStreamDestroy(own), "destroying a stream");
  return well;
}

int run(bool low_limit) {
  must(cudaSetDevice(0), "the GPU");
  // A program that needs the memory of stacks for other data can lower CUDA's stack limit. With the low limit, no
  // kernel of the library has a large enough stack by chance.
  if (low_limit) must(cudaDeviceSetLimit(cudaLimitStackSize, 16), "lowering the limit");
  pgas::world world = pgas::world::join();
  constexpr std::size_t n = 1000;
  auto flag = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  auto sums = world.allocate<std::int64_t>(n, pgas::initialize::zero);
  auto values = world.allocate<std::int64_t>(n, pgas::initialize::zero);
  cudaFuncAttributes ignored{};
  must(cudaFuncGetAttributes(&ignored, spin), "loading");
  pgas::stream on(world);
  world.barrier_all();
  bool well = beside_a_spinning_kernel("a reduction", flag.data(), 1, [&] {
    pgas::reduce(world.team(), on, sums.data(), values.data(), n, pgas::op::sum{});
    pgas::p(world, on, flag.data(), std::uint64_t{1}, world.my_pe());
  });
  well =
      beside_a_spinning_kernel("a kernel of launch()", flag.data(), 2,
                               [&] { pgas::launch(world, {.on = &on}, hungry{}, flag.data(), std::uint64_t{2}, 7); }) &&
      well;
  on.synchronize();
  world.barrier_all();
  return well ? 0 : 1;
}

}  // namespace

int main(int argc, char**) {
  try {
    return run(argc > 1);
  } catch (const pgas::error& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
