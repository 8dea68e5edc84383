#include "bench.hpp"

#include <cstdlib>

namespace conformance {

bench::bench() {
  int devices = 0;
  gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  if (gpu) {
    const int mine = nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices;
    if (cudaSetDevice(mine) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess) std::abort();
  }
  me = nvshmem_my_pe();
  n = nvshmem_n_pes();
  dest = static_cast<unsigned char*>(nvshmem_malloc(bytes));
  source = static_cast<unsigned char*>(nvshmem_malloc(bytes));
  signal = static_cast<std::uint64_t*>(nvshmem_malloc(4096));
  if (dest == nullptr || source == nullptr || signal == nullptr) std::abort();
  host_dest = pinned(bytes);
  host_source = pinned(bytes);
  numbers = reinterpret_cast<std::uint64_t*>(pinned(bytes));
  nvshmem_team_t columns = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, n < 2 ? 1 : 2, nullptr, 0, &rows, nullptr, 0, &columns);
}

bench::~bench() {
  unpin(host_dest);
  unpin(host_source);
  unpin(numbers);
  nvshmem_free(signal);
  nvshmem_free(source);
  nvshmem_free(dest);
}

unsigned char* bench::pinned(std::size_t count) const {
  void* p = nullptr;
  if (gpu) {
    if (cudaHostAlloc(&p, count, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess) std::abort();
  } else {
    p = std::calloc(count, 1);
  }
  return static_cast<unsigned char*>(p);
}

void bench::unpin(void* p) const {
  if (gpu)
    static_cast<void>(cudaFreeHost(p));
  else
    std::free(p);
}

call bench::prepare(const function& f) const {
  call c{};
  c.element_bytes = f.element_bytes;
  c.dest = dest;
  c.source = source;
  c.host_dest = host_dest;
  c.host_source = host_source;
  c.pe = right();
  c.signal = signal;
  c.result = numbers;
  c.writes = numbers + 16;
  c.values = numbers + 32;
  c.indices = reinterpret_cast<std::size_t*>(numbers + 48);
  c.status = reinterpret_cast<const int*>(numbers + 64);
  c.stream = stream;
  c.team = NVSHMEM_TEAM_WORLD;
  return c;
}

void bench::write(void* to, const void* from, std::size_t count) const {
  if (!gpu)
    std::memcpy(to, from, count);
  else if (cudaMemcpy(to, from, count, cudaMemcpyHostToDevice) != cudaSuccess)
    std::abort();
}

std::vector<unsigned char> bench::read(const void* from, std::size_t count) const {
  std::vector<unsigned char> to(count);
  if (!gpu)
    std::memcpy(to.data(), from, count);
  else if (cudaMemcpy(to.data(), from, count, cudaMemcpyDeviceToHost) != cudaSuccess)
    std::abort();
  return to;
}

void bench::barrier() const {
  if (gpu && cudaDeviceSynchronize() != cudaSuccess) std::abort();
  nvshmem_barrier_all();
}

void bench::execute_operation(const family& calls, const call& c) const {
  barrier();
  calls.run(c);
  barrier();
}

std::uint64_t random_word(std::uint64_t serial, int pe, std::uint64_t index) {
  std::uint64_t x = serial * 0x9e3779b97f4a7c15u + (static_cast<std::uint64_t>(pe) + 1) * 0xbf58476d1ce4e5b9u + index;
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::vector<unsigned char> random_bytes(std::uint64_t serial, int pe, std::size_t count) {
  std::vector<unsigned char> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<unsigned char>(random_word(serial, pe, i / 8) >> i % 8 * 8);
  return result;
}

std::uint64_t cut(std::uint64_t bits, int element_bytes) {
  return element_bytes >= 8 ? bits : bits & ((std::uint64_t{1} << element_bytes * 8) - 1);
}

std::string difference(const char* what, const std::vector<unsigned char>& got,
                       const std::vector<unsigned char>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (got[i] != wanted[i])
      return std::string(what) + " differs from byte " + std::to_string(i) + " of " + std::to_string(wanted.size()) +
             " on";
  }
  return {};
}

}  // namespace conformance
