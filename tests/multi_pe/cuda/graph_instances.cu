// A graph with a kernel of launch() is instantiated twice. Both instances run at the same time on two streams, beside a
// launch of the same kernel. The blocks of each run synchronize only with one another.
#include <cuda_runtime.h>

#include <cstdio>

#include "must.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

constexpr unsigned blocks = 4;
constexpr unsigned at_once = 3;  // the number of concurrent runs: two instances and a launch
constexpr unsigned repetitions = 200;
constexpr unsigned places_of_each = 64;

struct results {
  unsigned runs;    ///< the number of runs that have begun
  unsigned beside;  ///< the number of runs that have seen that all other runs of their repetition have begun
  unsigned wrong;
  unsigned places[repetitions * at_once][places_of_each];
};

/// Each run takes a number, waits a while for the other runs of its repetition, and then synchronizes often.
struct meet_often {
  template <class Block>
  PGAS_FN void operator()(Block block, results* r) const {
    const auto all = pgas::this_grid(block);
    const unsigned run = all.broadcast(all.thread_rank() == 0 ? atomicAdd(&r->runs, 1u) : 0u);
    if (run >= repetitions * at_once) return;
    volatile unsigned* const place = r->places[run];
    if (all.thread_rank() == 0) {
      const unsigned wanted = (run / at_once + 1) * at_once;
      const std::uint64_t start = pgas::detail::clock_ns();
      bool here = false;
      while (!here && pgas::detail::clock_ns() - start < 100'000'000u) here = atomicAdd(&r->runs, 0u) >= wanted;
      if (here) atomicAdd(&r->beside, 1u);
    }
    for (unsigned i = 1; i <= 50; ++i) {
      if (block.thread_rank() == 0) place[block.block_rank()] = i;
      all.sync();
      if (place[(block.block_rank() + i) % blocks] != i) atomicAdd(&r->wrong, 1u);
      const bool vote = (run + i) % 2 == 0;
      if (all.any(vote && all.thread_rank() == i % all.size()) != vote) atomicAdd(&r->wrong, 1u);
      if (all.broadcast(run * 100 + i) != run * 100 + i) atomicAdd(&r->wrong, 1u);
    }
  }
};

int run() {
  pgas::world world = pgas::world::join();
  must(cudaSetDevice(world.device()), "the GPU");
  results* r = nullptr;
  must(cudaMalloc(&r, sizeof *r), "cudaMalloc");
  must(cudaMemset(r, 0, sizeof *r), "cudaMemset");
  must(cudaDeviceSynchronize(), "cudaMemset");

  cudaStream_t native[at_once] = {};
  for (cudaStream_t& stream : native) must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const auto launch = [&](cudaStream_t stream) {
    const pgas::stream on = pgas::stream::wrap(world, stream);
    pgas::launch(world, {.blocks = blocks, .threads = 64, .on = &on}, meet_often{}, r);
  };
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(native[0], cudaStreamCaptureModeGlobal), "beginning the capture");
  launch(native[0]);
  must(cudaStreamEndCapture(native[0], &graph), "ending the capture");
  cudaGraphExec_t instances[2] = {};
  for (unsigned i = 0; i < 2; ++i) {
    must(cudaGraphInstantiate(&instances[i], graph, 0), "instantiating the graph");
    must(cudaGraphUpload(instances[i], native[i]), "uploading the graph");
  }
  for (unsigned i = 0; i < repetitions; ++i) {
    for (unsigned k = 0; k < 2; ++k) must(cudaGraphLaunch(instances[k], native[k]), "launching the graph");
    launch(native[2]);
    for (cudaStream_t stream : native) pgas::stream::wrap(world, stream).synchronize();
    world.check();
  }

  static results end;
  must(cudaMemcpy(&end, r, sizeof end, cudaMemcpyDefault), "reading the result");
  for (cudaGraphExec_t each : instances) must(cudaGraphExecDestroy(each), "destroying the graph");
  must(cudaGraphDestroy(graph), "destroying the graph");
  if (end.runs == repetitions * at_once && end.wrong == 0 && end.beside > 0) return 0;
  std::fprintf(stderr, "%u of %u runs, %u beside the others, %u wrong\n", end.runs, repetitions * at_once, end.beside,
               end.wrong);
  return 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const pgas::error& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
