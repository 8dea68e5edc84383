// The order between CUDA's legacy default stream and host calls. Without arguments: if cudaMemset clears a word before
// a host barrier, the word keeps the signal that a peer's kernel sends after the barrier. With "wait": a kernel in that
// stream waits for its host, and the host's barrier returns nevertheless.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace {

__device__ unsigned long long now_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(unsigned long long ns) {
  for (const unsigned long long begin = now_ns(); now_ns() - begin < ns;) {
  }
}

/// The value of the word once it is 1, or after some seconds.
__device__ uint64_t await_one(uint64_t* word, unsigned long long seconds) {
  uint64_t seen = 0;
  for (const unsigned long long begin = now_ns(); seen != 1 && now_ns() - begin < seconds * 1000000000;)
    seen = nvshmem_signal_fetch(word);
  return seen;
}
__global__ void exchange(uint64_t* word, int right, uint64_t* seen) {
  nvshmemx_signal_op(word, 1, NVSHMEM_SIGNAL_SET, right);
  *seen = await_one(word, 5);
}
__global__ void wait_for_host(uint64_t* word, uint64_t* seen) { *seen = await_one(word, 30); }

bool is_fine(cudaError_t status, const char* what) {
  if (status != cudaSuccess) std::printf("%s: %s\n", what, cudaGetErrorString(status));
  return status == cudaSuccess;
}

/// Calls each function once for each PE. In each call a different PE clears its word late, after a slow kernel.
int clear_then_meet(uint64_t* word, uint64_t* seen) {
  const int me = nvshmem_my_pe();
  const int n = nvshmem_n_pes();
  std::vector<void*> memory;  // each call below is made n times, so it allocates or frees n times
  const auto free_last = [&] {
    nvshmem_free(memory.back());
    memory.pop_back();
  };
  const std::vector<std::pair<const char*, std::function<void()>>> collectives{
      {"nvshmem_barrier_all", [] { nvshmem_barrier_all(); }},
      {"nvshmem_barrier", [] { nvshmem_barrier(NVSHMEM_TEAM_WORLD); }},
      {"nvshmem_sync_all", [] { nvshmem_sync_all(); }},
      {"nvshmem_team_sync", [] { nvshmem_team_sync(NVSHMEM_TEAM_WORLD); }},
      {"nvshmem_malloc", [&] { memory.push_back(nvshmem_malloc(64)); }},
      {"nvshmem_free", free_last},
      {"nvshmem_calloc", [&] { memory.push_back(nvshmem_calloc(64, 1)); }},
      {"nvshmem_free", free_last},
      {"nvshmem_align", [&] { memory.push_back(nvshmem_align(64, 64)); }},
      {"nvshmem_free", free_last},
  };
  for (const auto& [name, collective] : collectives) {
    for (int late = 0; late < n; ++late) {
      if (me == late) spin<<<1, 1>>>(30000000);
      if (!is_fine(cudaMemset(word, 0, sizeof *word), "cudaMemset")) return 1;
      collective();
      exchange<<<1, 1>>>(word, (me + 1) % n, seen);
      if (!is_fine(cudaDeviceSynchronize(), "exchange")) return 1;
      if (*seen != 1) {
        std::printf("PE %d: the signal behind %s was lost, PE %d was late\n", me, name, late);
        return 1;
      }
      nvshmem_barrier_all();
    }
  }
  return 0;
}

int meet_beside_a_waiting_kernel(uint64_t* word, uint64_t* seen) {
  const int me = nvshmem_my_pe();
  wait_for_host<<<1, 1>>>(word, seen);
  const auto began = std::chrono::steady_clock::now();
  nvshmem_barrier_all();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  nvshmem_uint64_p(word, 1, (me + 1) % nvshmem_n_pes());
  if (!is_fine(cudaDeviceSynchronize(), "wait_for_host")) return 1;
  std::printf("PE %d: the barrier took %.2f s\n", me, took.count());
  return *seen == 1 && took.count() < 10 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  nvshmem_init();
  int devices = 1;
  if (!is_fine(cudaGetDeviceCount(&devices), "cudaGetDeviceCount")) return 1;
  if (!is_fine(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices), "cudaSetDevice")) return 1;
  uint64_t* const word = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
  uint64_t* seen = nullptr;
  if (!is_fine(cudaMallocHost(&seen, sizeof *seen), "cudaMallocHost")) return 1;
  const bool waits = argc > 1 && std::strcmp(argv[1], "wait") == 0;
  const int status = waits ? meet_beside_a_waiting_kernel(word, seen) : clear_then_meet(word, seen);
  if (status != 0) return status;  // the other PEs fail as well
  cudaFreeHost(seen);
  nvshmem_free(word);
  nvshmem_finalize();
  return 0;
}
