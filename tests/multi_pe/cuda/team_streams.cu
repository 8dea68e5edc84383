// Collectives of one team on several CUDA streams, eager and in graphs that run on different streams. Each collective
// runs after the previous one and gives the correct sums. All PEs enqueue and launch in the same order.
#include <cuda_runtime.h>

#include <cstdio>

#include "must.hpp"
#include "pgas/pgas.hpp"

namespace {

constexpr std::size_t count = 1024;
constexpr int rounds = 100;

/// Delays a stream, then adds 1 to each operand.
__global__ void next_operands(std::uint32_t* src) {
  for (int i = 0; i < 20; ++i) __nanosleep(1000);
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) ++src[i];
}

/// Counts the wrong sums of a run, and increments the number of runs.
__global__ void check_sums(const std::uint32_t* dst, std::uint32_t first, int n, std::uint32_t* runs,
                           std::uint32_t* wrong) {
  const std::uint32_t run = *runs + 1;
  const std::uint32_t members = static_cast<std::uint32_t>(n);
  const std::uint32_t sum = members * (first + run) + members * (members - 1) / 2;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x)
    if (dst[i] != sum) atomicAdd(wrong, 1u);
  __syncthreads();
  if (threadIdx.x == 0) *runs = run;
}

/// A chain of make, reduce and check, on separate memory.
class chain {
 public:
  chain(pgas::world& w, std::uint32_t first)
      : world_(w),
        first_(first),
        src_(w.allocate<std::uint32_t>(count)),
        dst_(w.allocate<std::uint32_t>(count)),
        counts_(w.allocate<std::uint32_t>(2, pgas::initialize::zero)) {
    std::uint32_t values[count];
    for (std::uint32_t& each : values) each = first + static_cast<std::uint32_t>(w.my_pe());
    pgas::put(w, src_.data(), values, count, w.my_pe());
    w.barrier_all();
  }
  void enqueue(cudaStream_t stream) {
    const pgas::stream on = pgas::stream::wrap(world_, stream);
    next_operands<<<1, 128, 0, stream>>>(src_.data());
    pgas::reduce(world_.team(), on, dst_.data(), src_.data(), count, pgas::op::sum{});
    check_sums<<<1, 128, 0, stream>>>(dst_.data(), first_, world_.n_pes(), counts_.data(), counts_.data() + 1);
    must(cudaGetLastError(), "a kernel");
  }
  /// Called when all runs have ended.
  [[nodiscard]] bool right(std::uint32_t runs, const char* what) {
    std::uint32_t seen[2] = {};
    pgas::get(world_, seen, counts_.data(), 2, world_.my_pe());
    if (seen[0] == runs && seen[1] == 0) return true;
    std::fprintf(stderr, "PE %d, %s: %u of %u runs, %u wrong values\n", world_.my_pe(), what, seen[0], runs, seen[1]);
    return false;
  }

 private:
  pgas::world& world_;
  std::uint32_t first_;
  pgas::symmetric<std::uint32_t> src_;
  pgas::symmetric<std::uint32_t> dst_;
  pgas::symmetric<std::uint32_t> counts_;
};

cudaStream_t make_stream() {
  cudaStream_t result = nullptr;
  must(cudaStreamCreateWithFlags(&result, cudaStreamNonBlocking), "a stream");
  return result;
}

void wait(pgas::world& w, cudaStream_t stream) { pgas::stream::wrap(w, stream).synchronize(); }

/// Ends a capture, and makes an instance of its graph.
cudaGraphExec_t instance_of(cudaGraph_t graph) {
  cudaGraphExec_t result = nullptr;
  must(cudaGraphInstantiate(&result, graph, 0), "an instance");
  return result;
}

bool eager_on_two_streams(pgas::world& w) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  chain item(w, 100);
  chain other(w, 5000);
  for (int r = 0; r < rounds; ++r) {
    item.enqueue(a);
    other.enqueue(b);
  }
  wait(w, a);
  wait(w, b);
  return item.right(rounds, "eager") && other.right(rounds, "eager");
}

bool destroyed_streams(pgas::world& w) {
  chain item(w, 200);
  cudaStream_t last = make_stream();
  cudaEvent_t done = nullptr;
  must(cudaEventCreate(&done), "an event");
  for (int r = 0; r < rounds; ++r) {
    cudaStream_t brief = make_stream();
    must(cudaStreamWaitEvent(brief, done, 0), "waiting");
    item.enqueue(brief);
    must(cudaEventRecord(done, brief), "recording");
    must(cudaStreamDestroy(brief), "destroying a stream with work on it");
  }
  must(cudaStreamWaitEvent(last, done, 0), "waiting");
  wait(w, last);
  return item.right(rounds, "destroyed streams");
}

bool graphs_beside_eager(pgas::world& w) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaStream_t c = make_stream();
  cudaEvent_t fork = nullptr;
  cudaEvent_t joined = nullptr;
  must(cudaEventCreate(&fork), "an event");
  must(cudaEventCreate(&joined), "an event");
  chain item(w, 300);
  chain two(w, 4000);
  chain eager(w, 70000);
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  must(cudaEventRecord(fork, a), "forking");
  must(cudaStreamWaitEvent(b, fork, 0), "forking");
  item.enqueue(a);
  two.enqueue(b);
  item.enqueue(a);
  must(cudaEventRecord(joined, b), "joining");
  must(cudaStreamWaitEvent(a, joined, 0), "joining");
  must(cudaStreamEndCapture(a, &graph), "ending a capture");
  // Two instances on two streams would run at the same time, but both use the memory of the same chains. So the test
  // itself orders the launches, by an event.
  cudaGraphExec_t instances[2] = {instance_of(graph), instance_of(graph)};
  cudaStream_t streams[2] = {a, b};
  cudaEvent_t before = nullptr;
  must(cudaEventCreate(&before), "an event");
  for (int r = 0; r < rounds; ++r) {
    must(cudaStreamWaitEvent(streams[r % 2], before, 0), "waiting");
    must(cudaGraphLaunch(instances[r % 2], streams[r % 2]), "launching a graph");
    must(cudaEventRecord(before, streams[r % 2]), "recording");
    eager.enqueue(c);
  }
  wait(w, a);
  wait(w, b);
  wait(w, c);
  const bool right = item.right(2 * rounds, "graph") && two.right(rounds, "graph") && eager.right(rounds, "beside");
  for (cudaGraphExec_t each : instances) must(cudaGraphExecDestroy(each), "the end");
  return right;
}

bool two_graphs_at_once(pgas::world& w) {
  cudaStream_t streams[2] = {make_stream(), make_stream()};
  chain chains[2] = {chain(w, 11), chain(w, 90000)};
  cudaGraphExec_t instances[2] = {};
  for (int k = 0; k < 2; ++k) {
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(streams[k], cudaStreamCaptureModeThreadLocal), "beginning a capture");
    for (int i = 0; i < 3; ++i) chains[k].enqueue(streams[k]);
    must(cudaStreamEndCapture(streams[k], &graph), "ending a capture");
    instances[k] = instance_of(graph);
  }
  w.barrier_all();
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < 2; ++k) must(cudaGraphLaunch(instances[k], streams[k]), "launching a graph");
  for (cudaStream_t each : streams) wait(w, each);
  return chains[0].right(3 * rounds, "two graphs") && chains[1].right(3 * rounds, "two graphs");
}

}  // namespace

int main() {
  try {
    pgas::world world = pgas::world::join();
    must(cudaSetDevice(world.device()), "the GPU");
    bool right = true;
    right = eager_on_two_streams(world) && right;
    right = destroyed_streams(world) && right;
    right = graphs_beside_eager(world) && right;
    right = two_graphs_at_once(world) && right;
    world.barrier_all();
    return right ? 0 : 1;
  } catch (const pgas::error& thrown) {
    std::fprintf(stderr, "%s\n", thrown.what());
    return 1;
  }
}
