// Smooths a ring of values step by step. The program is written for NVSHMEM, and pgas compiles it unchanged. Each PE
// has a part of the ring, and halos for its neighbours' end values. 08_from_nvshmem_native.cpp is the same program in
// pgas's own interface, and 08_from_nvshmem.md compares the two.
//
//   nvcc -arch=sm_90 08_from_nvshmem.cu $(pkg-config --cflags --libs pgas-nvshmem) -o ring && pgasrun -n 4 ./ring
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <vector>

__global__ void smooth(float* now, float* next, int n, uint64_t* arrived, int steps, float* sum) {
  const int pes = nvshmem_n_pes();
  const int left = (nvshmem_my_pe() + pes - 1) % pes;
  const int right = (nvshmem_my_pe() + 1) % pes;
  for (int step = 1; step <= steps; ++step) {
    if (threadIdx.x == 0) {
      nvshmem_float_p(now + n + 1, now[1], left);
      nvshmem_float_p(now, now[n], right);
      nvshmem_fence();
      nvshmemx_signal_op(arrived + 1, 1, NVSHMEM_SIGNAL_ADD, left);
      nvshmemx_signal_op(arrived, 1, NVSHMEM_SIGNAL_ADD, right);
      nvshmem_signal_wait_until(arrived, NVSHMEM_CMP_GE, step);
      nvshmem_signal_wait_until(arrived + 1, NVSHMEM_CMP_GE, step);
    }
    __syncthreads();
    for (int i = threadIdx.x + 1; i <= n; i += blockDim.x) next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
    __syncthreads();
    float* const done = now;
    now = next;
    next = done;
  }
  if (threadIdx.x == 0) {
    *sum = 0;
    for (int i = 1; i <= n; ++i) *sum += now[i];
  }
}

int main() {
  nvshmem_init();
  const int me = nvshmem_my_pe();
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus);
  cudaStream_t stream;
  cudaStreamCreate(&stream);

  int n = 1000, steps = 100;
  auto* now = static_cast<float*>(nvshmem_calloc(n + 2, sizeof(float)));
  auto* next = static_cast<float*>(nvshmem_calloc(n + 2, sizeof(float)));
  auto* arrived = static_cast<uint64_t*>(nvshmem_calloc(2, sizeof(uint64_t)));
  auto* sums = static_cast<float*>(nvshmem_calloc(2, sizeof(float)));  // the sum of this PE, and the sum of all PEs
  std::vector<float> start(n + 2);
  start[1] = me == 0 ? 1000.0F : 0.0F;
  cudaMemcpy(now, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice);
  nvshmem_barrier_all();

  void* arguments[] = {&now, &next, &n, &arrived, &steps, &sums};
  nvshmemx_collective_launch(reinterpret_cast<const void*>(smooth), 1, 256, arguments, 0, stream);
  nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sums + 1, sums, 1, stream);
  float sum = 0, first = 0;
  cudaMemcpyAsync(&sum, sums + 1, sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(&first, now + 1, sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  if (me == 0)
    std::printf("after %d steps the ring of %d PEs holds %.2f, its first value is %.2f\n", steps, nvshmem_n_pes(), sum,
                first);

  nvshmem_free(sums);
  nvshmem_free(arrived);
  nvshmem_free(next);
  nvshmem_free(now);
  nvshmem_finalize();
  return 0;
}
