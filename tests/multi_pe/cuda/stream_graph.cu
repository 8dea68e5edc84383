// Every operation on streams, captured in a CUDA graph and replayed 1000 times. In each replay one kernel of the graph
// makes new data, and another kernel checks the results. The capture uses the strictest mode. During the capture, calls
// that cannot be captured are refused, and unrelated calls work. Neither kind of call affects the capture.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "must.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::cmp;
using pgas::code;

constexpr std::uint32_t count = 2000;
constexpr int replays = 1000;

/// The progress of the replays, in memory of this GPU.
struct progress {
  std::uint64_t round;
  std::uint64_t wrong;
  std::uint64_t first_wrong_round;
  std::uint64_t first_wrong_check;
};

__host__ __device__ std::uint32_t word_of(std::uint32_t pe, std::uint64_t round, std::uint32_t i) {
  std::uint32_t x = pe * 0x9e3779b1u + static_cast<std::uint32_t>(round) * 0x85ebca77u + i * 0xc2b2ae3du;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  return x ^ x >> 12;
}

/// The blocks of the list, and the words of a block.
constexpr std::uint32_t list_blocks = 25;
constexpr std::uint32_t block_words = 7;

/// All memory of the graph. `values` contains the values for which the waits of the current round wait.
struct buffers {
  progress* state;
  std::uint32_t* outbox;         // GPU memory
  std::uint32_t* pinned_outbox;  // host memory
  std::uint32_t* pinned_inbox;
  std::uint64_t* values;
  std::uint64_t* fetched;
  std::uint32_t* inbox;  // in symmetric memory, like the fields up to `listed`
  std::uint32_t* strided;
  std::uint64_t* words;
  pgas::signal_t* signals;
  std::uint32_t* again;
  std::uint32_t* listed;
  pgas::copy_block* blocks;  // in GPU memory; different in each round
  std::uint32_t me;
  std::uint32_t left;
};

__global__ void make_data(buffers b) {
  const std::uint64_t round = b.state->round + 1;
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    b.outbox[i] = word_of(b.me, round, i);
    b.pinned_outbox[i] = word_of(b.me, round, count + i);
  }
  for (std::uint32_t i = threadIdx.x; i < list_blocks; i += blockDim.x) {
    const auto to = static_cast<std::uint32_t>((i + round) % list_blocks);
    b.blocks[i] = {b.listed + to * block_words, b.outbox + i * block_words, block_words * sizeof(std::uint32_t)};
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  b.state->round = round;
  b.values[0] = round;
  b.values[1] = 2 * round;
}

__device__ void expect(const buffers& b, std::uint64_t check, bool holds) {
  if (holds || atomicAdd(reinterpret_cast<unsigned long long*>(&b.state->wrong), 1ull) != 0) return;
  b.state->first_wrong_round = b.state->round;
  b.state->first_wrong_check = check;
}

__global__ void check_data(buffers b) {
  const std::uint64_t round = b.state->round;
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    expect(b, 1, b.inbox[i] == word_of(b.left, round, i));
    expect(b, 2, b.inbox[count + i] == word_of(b.left, round, count + i));
    expect(b, 3, b.pinned_inbox[i] == word_of(b.left, round, i));
    expect(b, 4, b.again[i] == word_of(b.left, round, count + i));
  }
  for (std::uint32_t i = threadIdx.x; i < 100; i += blockDim.x) {
    expect(b, 5, b.strided[2 * i] == word_of(b.left, round, 3 * i));
    expect(b, 6, b.strided[300 + i / 4 * 10 + i % 4] == word_of(b.left, round, i / 4 * 20 + i % 4));
  }
  for (std::uint32_t i = threadIdx.x; i < list_blocks * block_words; i += blockDim.x) {
    const auto to = static_cast<std::uint32_t>((i / block_words + round) % list_blocks);
    expect(b, 12, b.listed[to * block_words + i % block_words] == word_of(b.left, round, i));
  }
  if (threadIdx.x != 0) return;
  expect(b, 7, b.words[0] == round << 40);
  expect(b, 8, b.fetched[0] == round - 1);
  expect(b, 9, b.words[1] == round);
  expect(b, 10, b.fetched[1] == round << 40);
  expect(b, 11, b.words[2] == 77);
}

template <class Call>
void refused(const char* what, Call&& call) {
  try {
    call();
  } catch (const pgas::error& thrown) {
    if (thrown.code() == code::capturing) return;
    std::fprintf(stderr, "%s: %s\n", what, thrown.what());
    std::exit(1);
  }
  std::fprintf(stderr, "%s was not refused during the capture\n", what);
  std::exit(1);
}

/// The kernel of a launch() that becomes part of the graph.
struct barrier_kernel {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx) const {
    const auto all = pgas::this_grid(block);
    all.sync();
    pgas::barrier(ctx, all);
  }
};

void enqueue(pgas::world& world, const pgas::stream& on, const buffers& b, int right) {
  const auto native = static_cast<cudaStream_t>(on.native());
  make_data<<<1, 256, 0, native>>>(b);
  pgas::put(world, on, b.inbox, b.outbox, count, right);
  pgas::put_signal(world, on, b.inbox + count, b.pinned_outbox, count, b.signals, 1, pgas::signal_op::add, right);
  pgas::iput(world, on, b.strided, b.outbox, 2, 3, 100, right);
  pgas::ibput(world, on, b.strided + 300, b.outbox, 10, 20, 4, 25, right);
  pgas::put_list(world, on, {b.blocks, list_blocks}, right);
  pgas::fence(world, on);
  pgas::signal_add(world, on, b.signals + 1, 2, right);
  pgas::wait_until_all(world, on, b.signals, 2, nullptr, cmp::eq, b.values);
  pgas::wait_until(world, on, b.signals, cmp::ne, 0);
  pgas::atomic_add(world, on, b.words, std::uint64_t{1} << 40, right);
  pgas::atomic_fetch_inc(world, on, b.fetched, b.words + 1, right);
  pgas::p(world, on, b.words + 2, 77, right);
  pgas::quiet(world, on);
  pgas::barrier_all(world, on);
  pgas::get(world, on, b.pinned_inbox, b.inbox, count, world.my_pe());
  pgas::iget(world, on, b.again, b.inbox + count, 1, 1, count, world.my_pe());
  pgas::g(world, on, b.fetched + 1, b.words, right);
  pgas::launch(world, {.blocks = 3, .threads = 64, .on = &on}, barrier_kernel{}, world.context());
  check_data<<<1, 256, 0, native>>>(b);
  pgas::sync_all(world, on);
}

int run() {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  const int right = (world.my_pe() + 1) % n;
  auto inbox = world.allocate<std::uint32_t>(2 * count, pgas::initialize::zero);
  auto strided = world.allocate<std::uint32_t>(1000, pgas::initialize::zero);
  auto words = world.allocate<std::uint64_t>(4, pgas::initialize::zero);
  auto signals = world.allocate<pgas::signal_t>(2, pgas::initialize::zero);
  auto again = world.allocate<std::uint32_t>(count, pgas::initialize::zero);
  auto listed = world.allocate<std::uint32_t>(list_blocks * block_words, pgas::initialize::zero);
  must(cudaSetDevice(world.device()), "the GPU");
  const auto on_gpu = [](std::size_t bytes) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, bytes), "cudaMalloc");
    must(cudaMemset(memory, 0, bytes), "cudaMemset");
    return memory;
  };
  const auto pinned = [](std::size_t bytes) {
    void* memory = nullptr;
    must(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), "cudaHostAlloc");
    return memory;
  };
  buffers b{};
  b.state = static_cast<progress*>(on_gpu(sizeof(progress)));
  b.outbox = static_cast<std::uint32_t*>(on_gpu(count * 4));
  b.pinned_outbox = static_cast<std::uint32_t*>(pinned(count * 4));
  b.pinned_inbox = static_cast<std::uint32_t*>(pinned(count * 4));
  b.values = static_cast<std::uint64_t*>(on_gpu(16));
  b.fetched = static_cast<std::uint64_t*>(on_gpu(16));
  b.inbox = inbox.data();
  b.strided = strided.data();
  b.words = words.data();
  b.signals = signals.data();
  b.again = again.data();
  b.listed = listed.data();
  b.blocks = static_cast<pgas::copy_block*>(on_gpu(list_blocks * sizeof(pgas::copy_block)));
  b.me = static_cast<std::uint32_t>(world.my_pe());
  b.left = static_cast<std::uint32_t>((world.my_pe() + n - 1) % n);
  cudaFuncAttributes ignored{};
  must(cudaFuncGetAttributes(&ignored, make_data), "loading");
  must(cudaFuncGetAttributes(&ignored, check_data), "loading");
  must(cudaDeviceSynchronize(), "starting");
  world.barrier_all();

  cudaStream_t native = nullptr;
  must(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), "a stream");
  pgas::stream on = pgas::stream::wrap(world, native);
  std::vector<std::uint32_t> pageable(count, 5);
  must(cudaStreamBeginCapture(native, cudaStreamCaptureModeGlobal), "beginning the capture");
  refused("synchronize", [&] { on.synchronize(); });
  enqueue(world, on, b, right);
  refused("put from pageable memory", [&] { pgas::put(world, on, inbox.data(), pageable.data(), count, right); });
  refused("get into pageable memory", [&] { pgas::get(world, on, pageable.data(), inbox.data(), count, right); });
  refused("iput from pageable memory",
          [&] { pgas::iput(world, on, inbox.data(), pageable.data(), 1, 1, count, right); });
  refused("put_signal from pageable memory", [&] {
    pgas::put_signal(world, on, inbox.data(), pageable.data(), count, signals.data(), 1, pgas::signal_op::add, right);
  });
  {  // unrelated to the capture
    auto other = world.allocate<std::uint32_t>(count);
    pgas::put(world, other.data(), pageable.data(), count, world.my_pe());
    pgas::put_nbi(world, other.data(), pageable.data(), count, world.my_pe());
    pgas::quiet(world);
    if (pgas::g(world, other.data() + 7, world.my_pe()) != 5)
      return std::fprintf(stderr, "a put during a capture failed\n"), 1;
    pgas::stream second(world);
    pgas::put(world, second, other.data(), pageable.data(), count, world.my_pe());
    second.synchronize();
    world.barrier_all();
  }
  {
    cudaStream_t kept = nullptr;
    cudaGraph_t empty = nullptr;
    {
      pgas::stream captured(world);
      kept = static_cast<cudaStream_t>(captured.native());
      must(cudaStreamBeginCapture(kept, cudaStreamCaptureModeThreadLocal), "beginning another capture");
    }  // a stream that captures is not destroyed, and the library logs this
    must(cudaStreamEndCapture(kept, &empty), "ending the capture of a stream whose owner is gone");
    must(cudaGraphDestroy(empty), "destroying a graph");
    must(cudaStreamDestroy(kept), "destroying a stream");
  }
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(native, &graph), "ending the capture");
  cudaGraphExec_t executable = nullptr;
  must(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
  must(cudaGraphUpload(executable, native), "uploading the graph");
  on.synchronize();
  world.barrier_all();
  for (int i = 0; i < replays; ++i) must(cudaGraphLaunch(executable, native), "launching the graph");
  on.synchronize();
  enqueue(world, on, b, right);  // the same operations without a graph
  on.synchronize();

  progress end{};
  must(cudaMemcpy(&end, b.state, sizeof end, cudaMemcpyDefault), "reading the result");
  if (end.round != replays + 1 || end.wrong != 0) {
    std::fprintf(stderr, "PE %d: %llu rounds, %llu wrong, first in round %llu by check %llu\n", world.my_pe(),
                 static_cast<unsigned long long>(end.round), static_cast<unsigned long long>(end.wrong),
                 static_cast<unsigned long long>(end.first_wrong_round),
                 static_cast<unsigned long long>(end.first_wrong_check));
    return 1;
  }
  world.barrier_all();
  must(cudaGraphExecDestroy(executable), "destroying the graph");
  must(cudaGraphDestroy(graph), "destroying the graph");
  return 0;
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
