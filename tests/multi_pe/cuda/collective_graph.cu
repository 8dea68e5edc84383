// Collectives that are captured in a CUDA graph and replayed 1000 times. In each replay one kernel of the graph makes
// new data, and another kernel checks the results.
#include <cuda_runtime.h>

#include <cstdio>

#include "must.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

constexpr std::uint32_t count = 3000;
constexpr int replays = 1000;

/// The progress of the replays, in this PE's memory.
struct progress {
  std::uint32_t round;
  std::uint32_t wrong;
  std::uint32_t first_wrong_round;
};

__device__ std::uint32_t word_of(std::uint32_t member, std::uint32_t round, std::uint32_t i) {
  std::uint32_t x = member * 0x9e3779b1u + round * 0x85ebca77u + i * 0xc2b2ae3du;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  return x ^ x >> 12;
}

__global__ void make_data(pgas::team_view team, progress* state, std::uint32_t* src) {
  const std::uint32_t round = state->round + 1;
  const auto words = static_cast<std::uint32_t>(team.n_pes()) * count;
  for (std::uint32_t i = threadIdx.x; i < words; i += blockDim.x)
    src[i] = word_of(static_cast<std::uint32_t>(team.my_pe()), round, i);
  __syncthreads();
  if (threadIdx.x == 0) state->round = round;
}

__global__ void check_results(pgas::team_view team, progress* state, const std::uint32_t* sum,
                              const std::uint32_t* all) {
  const std::uint32_t round = state->round;
  const auto n = static_cast<std::uint32_t>(team.n_pes());
  const auto me = static_cast<std::uint32_t>(team.my_pe());
  std::uint32_t wrong = 0;
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    std::uint32_t expected = 0;
    for (std::uint32_t m = 0; m < n; ++m) {
      expected += word_of(m, round, i);
      if (all[m * count + i] != word_of(m, round, me * count + i)) ++wrong;
    }
    if (sum[i] != expected) ++wrong;
  }
  if (wrong != 0 && atomicAdd(&state->wrong, wrong) == 0) state->first_wrong_round = round;
}

}  // namespace

int main() {
  pgas::world world = pgas::world::join();
  const pgas::team& team = world.team();
  const auto n = static_cast<std::size_t>(team.n_pes());
  auto state = world.allocate<progress>(1, pgas::initialize::zero);
  auto src = world.allocate<std::uint32_t>(n * count);
  auto sum = world.allocate<std::uint32_t>(count);
  auto all = world.allocate<std::uint32_t>(n * count);
  pgas::stream on(world);
  const auto stream = static_cast<cudaStream_t>(on.native());
  must(cudaSetDevice(world.device()), "the GPU");

  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin of the capture");
  make_data<<<1, 512, 0, stream>>>(team.view(), state.data(), src.data());
  pgas::barrier(team, on);
  pgas::reduce(team, on, sum.data(), src.data(), count, pgas::op::sum{});
  pgas::alltoall(team, on, all.data(), src.data(), count);
  check_results<<<1, 512, 0, stream>>>(team.view(), state.data(), sum.data(), all.data());
  must(cudaStreamEndCapture(stream, &graph), "end of the capture");
  cudaGraphExec_t executable = nullptr;
  must(cudaGraphInstantiate(&executable, graph, 0), "instantiation");
  world.barrier_all();
  for (int i = 0; i < replays; ++i) must(cudaGraphLaunch(executable, stream), "replay");
  on.synchronize();

  progress seen{};
  pgas::get(world, &seen, state.data(), 1, world.my_pe());
  must(cudaGraphExecDestroy(executable), "end of the graph");
  must(cudaGraphDestroy(graph), "end of the graph");
  if (seen.round != replays || seen.wrong != 0) {
    std::fprintf(stderr, "PE %d: %u of %d replays ran, %u wrong words, first in replay %u\n", world.my_pe(), seen.round,
                 replays, seen.wrong, seen.first_wrong_round);
    return 1;
  }
  world.barrier_all();
  return 0;
}
