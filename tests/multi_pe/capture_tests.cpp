// Memory and collectives while streams are being captured into CUDA graphs, on a GPU heap. The tests run with any
// number of PEs, and with the CUDA driver of a GPU or the fake driver of the tests. Five tests have the names of public
// issue threads about symmetric memory in graphs (docs/graphs.md).
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../code_of.hpp"
#include "collective_tests.hpp"
#include "pgas/shared_memory.hpp"

namespace {

using pgas::code;
using pgas_test::code_of;
using pgas_test::numbers;
using pgas_test::text_of;
using pgas_test::world;
namespace op = pgas::op;

constexpr std::size_t count = 3000;
constexpr std::size_t MiB = std::size_t{1} << 20;

/// A function of the driver, with the signature of CUDA 12.
struct function {
  const char* name;
  template <class Function>
  operator Function*() const {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    auto* const find = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(::dlsym(library, "cuGetProcAddress_v2"));
    void* found = nullptr;
    EXPECT_EQ(find(name, &found, 12040, CU_GET_PROC_ADDRESS_DEFAULT, nullptr), CUDA_SUCCESS) << name;
    return reinterpret_cast<Function*>(found);
  }
};

struct driver {
  CUresult (*push)(CUcontext) = function{"cuCtxPushCurrent"};
  CUresult (*retain)(CUcontext*, CUdevice) = function{"cuDevicePrimaryCtxRetain"};
  CUresult (*create)(CUstream*, unsigned, int) = function{"cuStreamCreateWithPriority"};
  CUresult (*destroy)(CUstream) = function{"cuStreamDestroy"};
  CUresult (*begin)(CUstream, CUstreamCaptureMode) = function{"cuStreamBeginCapture"};
  CUresult (*end)(CUstream, CUgraph*) = function{"cuStreamEndCapture"};
  CUresult (*instantiate)(CUgraphExec*, CUgraph, unsigned long long) = function{"cuGraphInstantiate"};
  CUresult (*create_event)(CUevent*, unsigned) = function{"cuEventCreate"};
  CUresult (*destroy_event)(CUevent) = function{"cuEventDestroy"};
  CUresult (*record)(CUevent, CUstream) = function{"cuEventRecord"};
  CUresult (*wait)(CUstream, CUevent, unsigned) = function{"cuStreamWaitEvent"};
  CUresult (*launch)(CUgraphExec, CUstream) = function{"cuGraphLaunch"};
  CUresult (*query)(CUstream) = function{"cuStreamQuery"};
  CUresult (*destroy_graph)(CUgraph) = function{"cuGraphDestroy"};
  CUresult (*destroy_exec)(CUgraphExec) = function{"cuGraphExecDestroy"};

  static const driver& get() {
    static const driver found = [] {
      const driver calls;
      CUcontext context = nullptr;
      EXPECT_EQ(calls.retain(&context, world().device()), CUDA_SUCCESS);
      EXPECT_EQ(calls.push(context), CUDA_SUCCESS);
      return calls;
    }();
    return found;
  }
};

/// A graph that a capture has made.
class graph {
 public:
  explicit graph(CUgraph from) : graph_(from) { EXPECT_EQ(driver::get().instantiate(&exec_, from, 0), CUDA_SUCCESS); }
  graph(graph&& other) noexcept
      : graph_(std::exchange(other.graph_, nullptr)), exec_(std::exchange(other.exec_, nullptr)) {}
  graph& operator=(graph&&) = delete;
  ~graph() {
    if (graph_ == nullptr) return;
    EXPECT_EQ(driver::get().destroy_exec(exec_), CUDA_SUCCESS);
    EXPECT_EQ(driver::get().destroy_graph(graph_), CUDA_SUCCESS);
  }
  void launch(const pgas::stream& on) const {
    EXPECT_EQ(driver::get().launch(exec_, static_cast<CUstream>(on.native())), CUDA_SUCCESS);
  }

 private:
  CUgraph graph_;
  CUgraphExec exec_ = nullptr;
};

/// A stream of the program, and its captures.
class captured_stream {
 public:
  explicit captured_stream(CUstream_flags flags = CU_STREAM_NON_BLOCKING) {
    EXPECT_EQ(driver::get().create(&native_, flags, 0), CUDA_SUCCESS);
    stream.emplace(pgas::stream::wrap(world(), native_));
  }
  captured_stream(const captured_stream&) = delete;
  captured_stream& operator=(const captured_stream&) = delete;
  ~captured_stream() {
    stream->synchronize();
    EXPECT_EQ(driver::get().destroy(native_), CUDA_SUCCESS);
  }
  template <class Calls>
  graph capture(CUstreamCaptureMode mode, Calls&& calls) {
    EXPECT_EQ(driver::get().begin(native_, mode), CUDA_SUCCESS);
    calls();
    CUgraph result = nullptr;
    EXPECT_EQ(driver::get().end(native_, &result), CUDA_SUCCESS) << "a call has invalidated the capture";
    return graph(result);
  }

  /// Makes this stream wait for the work of stream `other`. If `other` is being captured, this stream joins the
  /// capture.
  void wait_for(const captured_stream& other) {
    CUevent event = nullptr;
    EXPECT_EQ(driver::get().create_event(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    EXPECT_EQ(driver::get().record(event, other.native_), CUDA_SUCCESS);
    EXPECT_EQ(driver::get().wait(native_, event, CU_EVENT_WAIT_DEFAULT), CUDA_SUCCESS);
    EXPECT_EQ(driver::get().destroy_event(event), CUDA_SUCCESS);
  }

  std::optional<pgas::stream> stream;

 private:
  CUstream native_ = nullptr;
};

/// Operands whose sums are known.
class summands {
 public:
  explicit summands(int salt) : salt_(salt), src_(count), dst_(count) { reset(0); }
  /// Writes the operands of a round.
  void reset(int round) {
    round_ = round;
    src_.write(numbers<std::uint32_t>(seed(world().my_pe()), count));
    dst_.write(std::vector<std::uint32_t>(count, 0));
    world().barrier_all();
  }
  void reduce(const pgas::stream& on) { pgas::reduce(world().team(), on, dst_.data(), src_.data(), count, op::sum{}); }
  [[nodiscard]] bool right() {
    std::vector<std::uint32_t> sum(count, 0);
    for (int pe = 0; pe < world().n_pes(); ++pe) {
      const std::vector<std::uint32_t> theirs = numbers<std::uint32_t>(seed(pe), count);
      for (std::size_t i = 0; i < count; ++i) sum[i] += theirs[i];
    }
    return dst_.read(count) == sum;
  }

 private:
  [[nodiscard]] int seed(int pe) const { return salt_ + 1000 * round_ + pe; }

  int salt_;
  int round_ = 0;
  pgas_test::array<std::uint32_t> src_;
  pgas_test::array<std::uint32_t> dst_;
};

class Capture : public testing::TestWithParam<CUstreamCaptureMode> {
 protected:
  const int me = world().my_pe();
  const int n = world().n_pes();
  captured_stream own;
};

std::string name_of(const testing::TestParamInfo<CUstreamCaptureMode>& mode) {
  constexpr std::array names{"global", "thread_local", "relaxed"};
  return names.at(static_cast<std::size_t>(mode.param));
}
INSTANTIATE_TEST_SUITE_P(Modes, Capture,
                         testing::Values(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                         CU_STREAM_CAPTURE_MODE_RELAXED),
                         name_of);

TEST_P(Capture, one_pe_captures_a_collective_and_the_others_enqueue_it) {
  summands sum(1);
  if (me == 0) {
    const graph replayed = own.capture(GetParam(), [&] { sum.reduce(*own.stream); });
    for (int round = 1; round < 20; ++round) {
      sum.reset(round);
      replayed.launch(*own.stream);
      own.stream->synchronize();
      EXPECT_TRUE(sum.right()) << round;
    }
  } else {
    for (int round = 1; round < 20; ++round) {
      sum.reset(round);
      sum.reduce(*own.stream);
      own.stream->synchronize();
      EXPECT_TRUE(sum.right()) << round;
    }
  }
  world().barrier_all();
}

TEST_P(Capture, two_streams_of_one_capture_and_work_behind_the_graph) {
  summands first(2);
  summands second(3);
  summands third(4);
  captured_stream branch;
  const graph replayed = own.capture(GetParam(), [&] {
    branch.wait_for(own);
    first.reduce(*own.stream);
    second.reduce(*branch.stream);
    own.wait_for(branch);
  });
  pgas::stream other(world());
  for (int round = 1; round < 10; ++round) {
    first.reset(round);
    second.reset(round);
    third.reset(round);
    replayed.launch(*own.stream);
    third.reduce(other);  // behind the graph
    other.synchronize();
    EXPECT_TRUE(first.right() && second.right() && third.right()) << round;
  }
  world().barrier_all();
}

/// All collective calls about memory that a program may make while one PE captures.
void use_memory() {
  const int me = world().my_pe();
  auto added = world().allocate<std::uint32_t>(16 * MiB, pgas::initialize::zero);
  pgas::p(world(), added.data() + 5, 7u, me);
  EXPECT_EQ(pgas::g(world(), added.data() + 5, me), 7u);
  added.resize(32 * MiB);
  EXPECT_EQ(pgas::g(world(), added.data() + 5, me), 7u);
  const pgas::team pair = world().team().split_strided(0, 1, world().n_pes());
  summands sum(5);
  pgas::barrier(pair);
}

TEST_P(Capture, memory_is_allocated_resized_and_freed_while_one_pe_captures) {
  summands sum(6);
  if (me == 0) {
    const graph replayed = own.capture(GetParam(), [&] {
      sum.reduce(*own.stream);
      use_memory();
    });
    sum.reset(1);
    replayed.launch(*own.stream);
  } else {
    use_memory();
    sum.reset(1);
    sum.reduce(*own.stream);
  }
  own.stream->synchronize();
  EXPECT_TRUE(sum.right());
  world().barrier_all();
}

TEST_P(Capture, a_call_that_is_impossible_in_a_capture_is_refused_and_harmless) {
  summands sum(7);
  std::vector<std::uint32_t> pageable(count, 5);
  pgas_test::array<std::uint32_t> inbox(count);
  pgas_test::array<pgas::signal_t> signal(1);
  const std::string pe = "PE " + std::to_string(me);
  const graph replayed = own.capture(GetParam(), [&] {
    sum.reduce(*own.stream);
    const std::string wait = text_of([&] { own.stream->synchronize(); });
    EXPECT_NE(wait.find("end the capture"), std::string::npos) << wait;
    EXPECT_NE(wait.find(pe), std::string::npos) << wait;
    const std::string put = text_of([&] { pgas::put(world(), *own.stream, inbox.data(), pageable.data(), count, me); });
    EXPECT_NE(put.find("cudaHostAlloc"), std::string::npos) << put;
    EXPECT_NE(put.find(pe), std::string::npos) << put;
    EXPECT_EQ(code_of([&] { pgas::get(world(), *own.stream, pageable.data(), inbox.data(), count, me); }),
              code::capturing);
    EXPECT_EQ(code_of([&] {
                pgas::put_signal(world(), *own.stream, inbox.data(), pageable.data(), count, signal.data(), 1,
                                 pgas::signal_op::add, me);
              }),
              code::capturing);
    EXPECT_EQ(code_of([&] { pgas::put_list(world(), *own.stream, {nullptr, 1}, me); }), code::invalid_argument);
    pgas::put(world(), inbox.data(), pageable.data(), count, me);  // the internal stream is in no capture
    EXPECT_EQ(inbox.read(count), pageable);
  });
  sum.reset(1);
  replayed.launch(*own.stream);
  own.stream->synchronize();
  EXPECT_TRUE(sum.right());
  world().barrier_all();
}

TEST_P(Capture, the_default_stream_beside_a_capture_is_refused_with_the_remedy) {
  captured_stream blocking(CU_STREAM_DEFAULT);
  summands sum(8);
  pgas_test::array<std::uint32_t> inbox(count);
  const pgas::stream legacy = pgas::stream::wrap(world(), nullptr);
  const graph replayed = blocking.capture(GetParam(), [&] {
    sum.reduce(*blocking.stream);
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { sum.reduce(legacy); }, [&] { pgas::p(world(), legacy, inbox.data(), 1u, me); },
             [&] { pgas::put(world(), legacy, inbox.data(), inbox.data() + 8, 8, me); },
             [&] { pgas::stream::wrap(world(), nullptr).synchronize(); },
             [&] { pgas::barrier_all(world(), legacy); }}) {
      const auto thrown = pgas_test::thrown_by(call);
      ASSERT_TRUE(thrown.has_value());
      EXPECT_EQ(thrown->code(), code::capturing) << thrown->what();
      EXPECT_NE(std::string(thrown->what()).find("use another stream"), std::string::npos) << thrown->what();
    }
  });
  sum.reset(1);
  replayed.launch(*blocking.stream);
  blocking.stream->synchronize();
  EXPECT_TRUE(sum.right());
  world().barrier_all();
}

// ---- the public threads

// sglang#36943: the registration of a new segment deadlocked when the pool of one engine grew at run time. Here the
// heap of each PE gets new segments while launches of graphs are enqueued.
TEST_P(Capture, sglang_36943_the_heap_grows_at_run_time) {
  summands sum(9);
  const graph replayed = own.capture(GetParam(), [&] { sum.reduce(*own.stream); });
  std::vector<pgas::symmetric<std::uint32_t>> blocks;
  for (int i = 0; i < 4; ++i) {
    sum.reset(i);
    for (int launch = 0; launch < 5; ++launch) replayed.launch(*own.stream);
    blocks.push_back(world().allocate<std::uint32_t>((8u << i) * MiB));  // does not wait for the stream
    own.stream->synchronize();
    EXPECT_TRUE(sum.right()) << i;
  }
  world().barrier_all();
}

// sglang#34230: ranks captured collectives on different windows, and the results were wrong without an error. With
// checks the replay fails on all PEs; the test runs in a world of its own, because the world fails.
TEST(CaptureOfDifferentMemory, sglang_34230_is_an_error_that_names_the_pe) {
  ASSERT_GE(world().n_pes(), 2);
  pgas::config checked = pgas::config::from_environment();
  checked.checks = true;
  pgas::world own = pgas::world::join(checked);
  auto first = own.allocate<std::uint32_t>(count);
  auto second = own.allocate<std::uint32_t>(count);
  auto src = own.allocate<std::uint32_t>(count, pgas::initialize::zero);
  CUstream native = nullptr;
  ASSERT_EQ(driver::get().create(&native, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  pgas::stream on = pgas::stream::wrap(own, native);
  ASSERT_EQ(driver::get().begin(native, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  pgas::reduce(own.team(), on, own.my_pe() == 0 ? first.data() : second.data(), src.data(), count, op::sum{});
  CUgraph captured = nullptr;
  ASSERT_EQ(driver::get().end(native, &captured), CUDA_SUCCESS);
  const graph replayed(captured);
  replayed.launch(on);
  const auto thrown = pgas_test::thrown_by([&] { on.synchronize(); });
  ASSERT_TRUE(thrown.has_value());
  EXPECT_EQ(thrown->code(), code::asymmetric_call) << thrown->what();
  EXPECT_NE(std::string(thrown->what()).find("PE "), std::string::npos) << thrown->what();
  // pgas reports the failure before the kernels have ended. A graph must not be destroyed while it is in use, so the
  // test waits for the kernels.
  CUresult state = CUDA_ERROR_NOT_READY;
  for (int i = 0; i < 10'000 && state == CUDA_ERROR_NOT_READY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    state = driver::get().query(native);
  }
  EXPECT_NE(state, CUDA_ERROR_NOT_READY);
}

// sglang#33037: memory of a pool was allocated during a capture, and was neither kept for the graph nor at the same
// offset on every rank. Here the memory has the same offset, and belongs to the program.
TEST_P(Capture, sglang_33037_memory_of_a_capture_has_the_same_offset_and_lives_on) {
  std::optional<pgas::symmetric<std::uint32_t>> src;
  std::optional<pgas::symmetric<std::uint32_t>> dst;
  const graph replayed = own.capture(GetParam(), [&] {
    src.emplace(world().allocate<std::uint32_t>(count));
    dst.emplace(world().allocate<std::uint32_t>(count));
    pgas::reduce(world().team(), *own.stream, dst->data(), src->data(), count, op::sum{});
  });
  const auto later = world().allocate<std::uint32_t>(count);
  for (int round = 0; round < 5; ++round) {
    const std::vector<std::uint32_t> values(count, static_cast<std::uint32_t>(10 * round + me));
    pgas::put(world(), src->data(), values.data(), count, me);
    world().barrier_all();
    replayed.launch(*own.stream);
    own.stream->synchronize();
    std::vector<std::uint32_t> sum(count);
    pgas::get(world(), sum.data(), dst->data(), count, me);
    EXPECT_EQ(sum, std::vector<std::uint32_t>(count, static_cast<std::uint32_t>(10 * round * n + n * (n - 1) / 2)));
    world().barrier_all();
  }
}

// sglang#29946: an all-reduce gave right results when a program called it. It gave wrong results when a graph replayed
// it between other calls.
TEST_P(Capture, sglang_29946_replays_and_calls_in_turn_are_right) {
  summands sum(11);
  summands eager(12);
  sum.reduce(*own.stream);
  own.stream->synchronize();
  const graph replayed = own.capture(GetParam(), [&] {
    sum.reduce(*own.stream);
    sum.reduce(*own.stream);
  });
  pgas::stream other(world());
  for (int round = 0; round < 50; ++round) {
    sum.reset(round);
    eager.reset(round);
    for (int i = 0; i < 3; ++i) {
      replayed.launch(*own.stream);
      eager.reduce(other);
    }
    own.stream->synchronize();
    other.synchronize();
    EXPECT_TRUE(sum.right() && eager.right()) << round;
  }
}

// vllm#54626: the registration of a window during a capture failed on all ranks. Here the registration of memory
// succeeds.
TEST_P(Capture, vllm_54626_memory_is_registered_in_a_capture) {
  const pgas::shared_memory memory = pgas::shared_memory::make({world().device()}, 4 * MiB);
  summands sum(13);
  std::optional<pgas::registration> registered;
  const graph replayed = own.capture(GetParam(), [&] {
    sum.reduce(*own.stream);
    registered.emplace(world(), memory.data(), 4 * MiB);
    pgas::reduce(world().team(), *own.stream, static_cast<std::uint32_t*>(registered->data()) + count,
                 static_cast<std::uint32_t*>(registered->data()), count, op::sum{});
  });
  const std::vector<std::uint32_t> values(count, static_cast<std::uint32_t>(me + 1));
  pgas::put(world(), static_cast<std::uint32_t*>(registered->data()), values.data(), count, me);
  sum.reset(1);
  replayed.launch(*own.stream);
  own.stream->synchronize();
  EXPECT_TRUE(sum.right());
  EXPECT_EQ(pgas::g(world(), static_cast<std::uint32_t*>(registered->data()) + 2 * count - 1, me),
            static_cast<std::uint32_t>(n * (n + 1) / 2));
  world().barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  pgas::world all = pgas::world::join();
  pgas_test::shared_world = &all;
  return RUN_ALL_TESTS();
}
