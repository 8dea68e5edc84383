// Collectives of one team on two streams, by NVSHMEM's names. Each collective runs after the previous one, even on
// another stream, so no collective hangs and all sums are correct. The test runs the collectives eagerly, and in graphs
// that are launched on two streams.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <vector>

namespace {

constexpr size_t count = 1024;
constexpr int rounds = 100;

#define MUST(CALL)                                                           \
  do {                                                                       \
    const cudaError_t status = (CALL);                                       \
    if (status != cudaSuccess) {                                             \
      std::printf("PE %d: %s: %s\n", me, #CALL, cudaGetErrorString(status)); \
      nvshmem_global_exit(1);                                                \
    }                                                                        \
  } while (false)
#define MUST_BE_0(CALL)                                  \
  do {                                                   \
    if (const int status = (CALL); status != 0) {        \
      std::printf("PE %d: %s: %d\n", me, #CALL, status); \
      nvshmem_global_exit(1);                            \
    }                                                    \
  } while (false)

/// Delays a stream, then adds 1 to each operand.
__global__ void next_operands(int* src) {
  for (int i = 0; i < 20; ++i) __nanosleep(1000);
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) ++src[i];
}

/// Counts the wrong values that a run of a chain has computed, and increments the number of runs.
__global__ void check(const int* sums, const int* all, int first, int n, int* runs, int* wrong) {
  const int run = *runs + 1;
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (sums[i] != n * (first + run) + n * (n - 1) / 2) atomicAdd(wrong, 1);
    for (int pe = 0; pe < n; ++pe)
      if (all[static_cast<size_t>(pe) * count + i] != first + run + pe) atomicAdd(wrong, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) *runs = run;
}

/// A chain of kernels and collectives on separate memory: makes operands, adds them up, gathers them, calls a barrier,
/// and checks.
struct chain {
  int me = nvshmem_my_pe();
  int n = nvshmem_n_pes();
  int first;
  int* src = static_cast<int*>(nvshmem_malloc(count * sizeof(int)));
  int* sums = static_cast<int*>(nvshmem_malloc(count * sizeof(int)));
  int* all = static_cast<int*>(nvshmem_malloc(count * sizeof(int) * static_cast<size_t>(n)));
  int* counts = static_cast<int*>(nvshmem_calloc(2, sizeof(int)));

  explicit chain(int from) : first(from) {
    const std::vector<int> values(count, first + me);
    MUST(cudaMemcpy(src, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    nvshmem_barrier_all();
  }
  void enqueue(cudaStream_t stream) {
    next_operands<<<1, 128, 0, stream>>>(src);
    MUST_BE_0(nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sums, src, count, stream));
    MUST_BE_0(nvshmemx_int_fcollect_on_stream(NVSHMEM_TEAM_WORLD, all, src, count, stream));
    MUST_BE_0(nvshmemx_team_sync_on_stream(NVSHMEM_TEAM_WORLD, stream));
    check<<<1, 128, 0, stream>>>(sums, all, first, n, counts, counts + 1);
    MUST(cudaGetLastError());
    nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, stream);
  }
  [[nodiscard]] bool is_right(int runs, const char* what) {
    int seen[2] = {};
    MUST(cudaMemcpy(seen, counts, sizeof seen, cudaMemcpyDeviceToHost));
    if (seen[0] == runs && seen[1] == 0) return true;
    std::printf("PE %d, %s: %d of %d runs, %d wrong values\n", me, what, seen[0], runs, seen[1]);
    return false;
  }
};

bool eager(cudaStream_t a, cudaStream_t b) {
  const int me = nvshmem_my_pe();
  chain item(100);
  chain other(500000);
  for (int r = 0; r < rounds; ++r) {
    item.enqueue(a);
    other.enqueue(b);
  }
  MUST(cudaStreamSynchronize(a));
  MUST(cudaStreamSynchronize(b));
  const bool right = item.is_right(rounds, "eager");
  return other.is_right(rounds, "eager") && right;
}

bool in_graphs(cudaStream_t a, cudaStream_t b) {
  const int me = nvshmem_my_pe();
  cudaStream_t streams[2] = {a, b};
  chain chains[2] = {chain(7), chain(900000)};
  cudaGraphExec_t instances[2] = {};
  for (int k = 0; k < 2; ++k) {
    cudaGraph_t graph = nullptr;
    MUST(cudaStreamBeginCapture(streams[k], cudaStreamCaptureModeThreadLocal));
    chains[k].enqueue(streams[k]);
    chains[k].enqueue(streams[k]);
    MUST(cudaStreamEndCapture(streams[k], &graph));
    MUST(cudaGraphInstantiate(&instances[k], graph, 0));
  }
  nvshmem_barrier_all();
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < 2; ++k) MUST(cudaGraphLaunch(instances[k], streams[k]));
  for (cudaStream_t each : streams) MUST(cudaStreamSynchronize(each));
  const bool right = chains[0].is_right(2 * rounds, "graph");
  return chains[1].is_right(2 * rounds, "graph") && right;
}

}  // namespace

int main() {
  nvshmem_init();
  const int me = nvshmem_my_pe();
  int devices = 1;
  MUST(cudaGetDeviceCount(&devices));
  MUST(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  cudaStream_t a = nullptr;
  cudaStream_t b = nullptr;
  MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  const bool right = eager(a, b);
  const bool all_right = in_graphs(a, b) && right;
  nvshmem_barrier_all();
  nvshmem_finalize();
  return all_right ? 0 : 1;
}
