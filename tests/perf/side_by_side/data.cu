#include <unistd.h>

#include <cstdio>

#include "data.hpp"

namespace side_by_side {

namespace {

constexpr int blocks = 264;
constexpr int threads = 512;

__device__ std::size_t first() { return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; }
__device__ std::size_t step() { return gridDim.x * static_cast<std::size_t>(blockDim.x); }

__global__ void fill_kernel(std::uint64_t* to, std::size_t words, std::uint64_t seed, int pe) {
  for (std::size_t i = first(); i < words; i += step()) to[i] = word(seed, pe, i);
}

__device__ std::uint64_t expect(const expected& as, std::size_t i) {
  switch (as.what) {
    case expected::of_pe: return word(as.seed, as.pe, i);
    case expected::gathered: return word(as.seed, static_cast<int>(i / as.each), i % as.each);
    case expected::exchanged: return word(as.seed, static_cast<int>(i / as.each), as.pe * as.each + i % as.each);
    default: break;
  }
  std::uint64_t sum = 0;  // the halves have 24 bits, so there is no carry from one half to the other
  for (int pe = 0; pe < as.pes; ++pe) sum += word(as.seed, pe, i);
  return sum;
}

__global__ void check_kernel(const std::uint64_t* in, std::size_t words, expected as, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t i = first(); i < words; i += step()) mine += in[i] != expect(as, i) ? 1 : 0;
  if (mine != 0) atomicAdd(wrong, mine);
}

}  // namespace

void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::fflush(stdout);
  _exit(3);  // destructors would wait for kernels that wait for peers
}

void fill(std::uint64_t* to, std::size_t words, std::uint64_t seed, int pe) {
  fill_kernel<<<blocks, threads>>>(to, words, seed, pe);
  must(cudaDeviceSynchronize(), "filling");
}

void poison(void* to, std::size_t bytes) {
  must(cudaMemset(to, 0xa5, bytes), "poisoning");
  must(cudaDeviceSynchronize(), "poisoning");
}

std::uint64_t wrong_words(const std::uint64_t* in, std::size_t words, const expected& as) {
  unsigned long long* count = nullptr;
  unsigned long long wrong = 0;
  must(cudaMalloc(&count, sizeof *count), "checking");
  must(cudaMemset(count, 0, sizeof *count), "checking");
  check_kernel<<<blocks, threads>>>(in, words, as, count);
  must(cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost), "checking");
  must(cudaFree(count), "checking");
  return wrong;
}

}  // namespace side_by_side
