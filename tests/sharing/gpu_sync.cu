// Timelines and interprocess events between two unrelated processes on one GPU. If two_gpus.sh starts the processes,
// they use two GPUs and number these GPUs in opposite order: GPU 0 of the process that opens the ticket is GPU 1 of the
// process that makes the ticket.
//
//     gpu_sync make FILE MODE     writes the tickets to FILE
//     gpu_sync open FILE MODE     the other side
//
// Modes: order, graph, kernel, event, lost and event-lost (the maker is killed while a stream of the other process
// waits for its timeline or its event), event-taker (the process that opened the event is killed), latency.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/ipc_event.hpp"
#include "pgas/pgas.hpp"
#include "pgas/timeline.hpp"
#include "two_gpus.cuh"

namespace {

int failures = 0;

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: not so: %s\n", line, what);
  ++failures;
}
#define PGAS_EXPECT(...) expect(__VA_ARGS__, #__VA_ARGS__, __LINE__)

void check(cudaError_t result, int line) {
  if (result == cudaSuccess) return;
  std::printf("line %d: CUDA says %s\n", line, cudaGetErrorString(result));
  ++failures;
}
#define PGAS_CUDA(...) check((__VA_ARGS__), __LINE__)

template <class Call>
bool fails_with(pgas::code code, const Call& call) {
  try {
    call();
  } catch (const pgas::error& failed) {
    std::printf("  as expected: %s\n", failed.what());
    return failed.code() == code;
  }
  return false;
}

__global__ void spin_and_stamp(std::uint64_t spin_ns, std::uint64_t* stamp) {
  const std::uint64_t begin = pgas::detail::clock_ns();
  while (pgas::detail::clock_ns() - begin < spin_ns) {
  }
  if (stamp != nullptr) pgas::detail::store_relaxed(stamp, pgas::detail::clock_ns());
}

__global__ void kernel_side(pgas::context ctx, std::uint64_t* awaited, std::uint64_t least, std::uint64_t* set,
                            std::uint64_t value) {
  pgas::signal_wait_until(ctx, awaited, pgas::cmp::ge, least);
  pgas::fence(ctx);
  pgas::signal_set(ctx, set, value, ctx.my_pe());
}

/// The objects of one side. The maker records in `forward`, and the other side in `back`.
struct side {
  bool maker = false;
  pgas::timeline forward;
  pgas::timeline back;
  cudaEvent_t of_program = nullptr;  ///< the maker's event, from which `event` is shared
  pgas::ipc_event event;
  pgas::shared_memory own_stamps;
  pgas::opened_memory stamps;
  cudaStream_t stream = nullptr;

  [[nodiscard]] pgas::timeline& mine() { return maker ? forward : back; }
  [[nodiscard]] pgas::timeline& theirs() { return maker ? back : forward; }
  void synchronize() { PGAS_CUDA(cudaStreamSynchronize(stream)); }
};

side set_up(bool maker, const std::string& file) {
  side s;
  s.maker = maker;
  std::string tickets[4];
  if (maker) {
    s.forward = pgas::timeline::make(pgas::memory_place::gpu(0));
    s.back = pgas::timeline::make(pgas::memory_place::gpu(0));
    PGAS_CUDA(cudaEventCreateWithFlags(&s.of_program, cudaEventInterprocess | cudaEventDisableTiming));
    s.event = pgas::ipc_event::share(pgas::memory_place::gpu(0), s.of_program);
    s.own_stamps = pgas::shared_memory::make(pgas::memory_place::host(), 4096);
    std::ofstream(file + ".new") << s.forward.ticket() << '\n'
                                 << s.back.ticket() << '\n'
                                 << s.own_stamps.ticket() << '\n'
                                 << s.event.ticket() << '\n';
    PGAS_EXPECT(std::rename((file + ".new").c_str(), file.c_str()) == 0);
  } else {
    std::ifstream lines(file);
    for (std::string& ticket : tickets) std::getline(lines, ticket);
    s.forward = pgas::timeline::open(tickets[0], {.place = pgas::memory_place::gpu(0)});
    s.back = pgas::timeline::open(tickets[1], {.place = pgas::memory_place::gpu(0)});
    s.stamps = pgas::opened_memory::open(tickets[2]);
    s.event = pgas::ipc_event::open(tickets[3]);
  }
  PGAS_CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
  // CUDA loads a kernel at its first launch. Loading may wait for the streams of this process.
  spin_and_stamp<<<1, 1, 0, s.stream>>>(0, nullptr);
  s.synchronize();
  return s;
}

/// A stream's record reaches streams and threads of the other process. A thread's record reaches streams of the other
/// process. No wait for a record times out.
void order(side& s) {
  for (std::uint64_t round = 1; round <= 2000; ++round) {
    if (s.maker) {
      s.forward.record(s.stream, round);
      s.back.wait(s.stream, round);
    } else {
      s.forward.wait(s.stream, round);
      s.back.record(s.stream, round);
    }
  }
  s.synchronize();
  // The maker may already have recorded higher values.
  PGAS_EXPECT(s.forward.query() >= 2000 && s.back.query() >= 2000);
  const std::uint64_t next = 3000;
  if (s.maker) {
    s.forward.set(next);  // from a thread to a stream
    s.back.wait_host(next);
    spin_and_stamp<<<1, 1, 0, s.stream>>>(20'000'000, nullptr);
    s.forward.record(s.stream, next + 1);
    PGAS_EXPECT(s.forward.query() == next && s.forward.recorded() == next + 1);
    s.back.wait_host(next + 1);
  } else {
    s.forward.wait(s.stream, next);
    s.back.record(s.stream, next);
    s.forward.wait_host(next + 1);  // from a stream to a thread
    s.back.set(next + 1);
  }
  s.synchronize();
}

/// Graphs record in timelines and wait for timelines. Each launch has the same effect.
void graph(side& s) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launched = nullptr;
  PGAS_CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
  if (s.maker) {
    spin_and_stamp<<<1, 1, 0, s.stream>>>(100'000, nullptr);
    s.forward.record(s.stream, 10);
    s.back.wait(s.stream, 10);
  } else {
    s.forward.wait(s.stream, 10);
    s.back.record(s.stream, 10);
  }
  PGAS_EXPECT(fails_with(pgas::code::capturing, [&] { s.event.record(s.stream); }));
  if (!s.maker) {
    // The maker's host sets the value 1, because the captured record of the value 10 has not run.
    s.forward.wait_host(1);
    PGAS_EXPECT(fails_with(pgas::code::capturing, [&] { s.event.wait(s.stream); }));
  } else {
    s.event.record(cudaStreamPerThread);
    s.forward.set(1);
  }
  PGAS_CUDA(cudaStreamEndCapture(s.stream, &graph));
  PGAS_CUDA(cudaGraphInstantiate(&launched, graph, 0));
  for (std::uint64_t round = 1; round <= 20; ++round) {
    PGAS_CUDA(cudaGraphLaunch(launched, s.stream));
    s.synchronize();
    PGAS_EXPECT(s.theirs().query() >= 10);
    // Each side has seen the value 10 of the other side before either side sets its own value back.
    s.mine().set(100 + round);
    s.theirs().wait_host(100 + round);
    if (s.maker) {
      s.forward.set(200 + round);
      s.back.wait_host(200 + round);  // the other side no longer waits for the value that is now set back
      s.back.set(0);
      s.forward.set(0);
    } else {
      s.forward.wait_host(200 + round);
      s.back.set(200 + round);
      while (s.forward.query() >= 100) std::this_thread::yield();
    }
  }
  PGAS_CUDA(cudaGraphExecDestroy(launched));
  PGAS_CUDA(cudaGraphDestroy(graph));
}

/// Kernels wait for timelines and set timelines, with the functions for signals.
void kernel(side& s) {
  pgas::world world = pgas::world::join();
  for (std::uint64_t round = 1; round <= 200; ++round)
    kernel_side<<<1, 1, 0, s.stream>>>(world.context(), s.theirs().word(), s.maker ? round - 1 : round, s.mine().word(),
                                       round);
  s.synchronize();
  s.theirs().wait_host(200);
  PGAS_EXPECT(s.mine().query() == 200);
}

/// An event orders streams. Wrong use is an error.
void event(side& s) {
  if (s.maker) {
    cudaEvent_t private_event = nullptr;
    PGAS_CUDA(cudaEventCreate(&private_event));
    PGAS_EXPECT(fails_with(pgas::code::invalid_argument, [&] {
      static_cast<void>(pgas::ipc_event::share(pgas::memory_place::gpu(0), private_event));
    }));
    PGAS_CUDA(cudaEventDestroy(private_event));
    PGAS_EXPECT(s.event.cuda_event() == s.of_program);
    PGAS_EXPECT(pgas::ipc_event::make(pgas::memory_place::gpu(0)).cuda_event() != nullptr);
    s.back.wait_host(1);  // the other side has tried to wait before the first record
    spin_and_stamp<<<1, 1, 0, s.stream>>>(50'000'000, nullptr);
    PGAS_EXPECT(s.event.record(s.stream) == 1);
    s.forward.set(1);
    s.synchronize();
    s.back.wait_host(2);
    s.event.wait(s.stream);  // waits for the record of the other side
    s.synchronize();
    PGAS_EXPECT(s.event.records() == 2 && s.event.reached());
    // Makes more records than the number of records that may be unfinished at the same time.
    for (std::uint64_t n = 3; n <= 3000; ++n) PGAS_EXPECT(s.event.record(s.stream) == n);
    s.event.wait(s.stream);
    s.synchronize();
    PGAS_EXPECT(s.event.reached());
    s.event = pgas::ipc_event();
    s.forward.set(2);
    s.back.wait_host(3);
  } else {
    PGAS_EXPECT(fails_with(pgas::code::invalid_argument, [&] { s.event.wait(s.stream); }));
    s.back.set(1);
    s.forward.wait_host(1);
    PGAS_EXPECT(!s.event.reached());
    const auto begin = std::chrono::steady_clock::now();
    s.event.wait(s.stream);
    s.synchronize();
    PGAS_EXPECT(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(10));
    PGAS_EXPECT(s.event.reached());
    // Code that knows only CUDA's event sees the same record.
    PGAS_EXPECT(cudaEventQuery(static_cast<cudaEvent_t>(s.event.cuda_event())) == cudaSuccess);
    PGAS_EXPECT(s.event.record(s.stream) == 2);
    s.back.set(2);
    s.forward.wait_host(2);
    PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.event.wait(s.stream); }));
    s.synchronize();
    s.back.set(3);
  }
}

/// The maker is killed. A stream that waits for the maker continues, and check() reports the reason.
void lost(side& s) {
  if (s.maker) {
    s.forward.set(5);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  s.forward.wait_host(5);
  s.forward.wait(s.stream, 7);
  std::printf("waiting\n");
  s.synchronize();
  PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.forward.check(); }));
  PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.forward.wait(s.stream, 8); }));
  PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.forward.wait_host(6); }));
  PGAS_EXPECT(s.forward.query() == 5);
  PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.event.wait(s.stream); }));
  s.synchronize();
}

/// The process that has recorded an event is killed before its stream reaches the record. The other side's stream
/// continues, and check() reports the reason.
void event_lost(side& s, bool maker_dies) {
  if (s.maker == maker_dies) {
    spin_and_stamp<<<1, 1, 0, s.stream>>>(600'000'000'000, nullptr);
    s.event.record(s.stream);
    s.mine().set(5);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  s.theirs().wait_host(5);
  PGAS_EXPECT(!s.event.reached());
  s.event.wait(s.stream);
  spin_and_stamp<<<1, 1, 0, s.stream>>>(0, nullptr);
  std::printf("waiting\n");
  s.synchronize();
  PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.event.check(); }));
  if (!maker_dies) {
    // The event belongs to this process until another process records it.
    std::printf("recording again\n");
    s.event.record(s.stream);
    std::printf("waiting for that\n");
    s.event.wait(s.stream);
    s.synchronize();
    std::printf("reached\n");
    PGAS_EXPECT(s.event.reached());
  } else {
    PGAS_EXPECT(fails_with(pgas::code::peer_lost, [&] { s.event.wait(s.stream); }));
  }
}

/// The time from the end of one stream's kernel to the start of the other stream's kernel, which was enqueued earlier.
void latency(side& s) {
  const bool across = !s.maker && std::getenv("TWO_GPUS") != nullptr;
  std::int64_t ahead = 0;
  std::int64_t known_to = 0;
  if (across) {
    PGAS_CUDA(two_gpus::compare_clocks(ahead, known_to));
    std::printf("two GPUs, whose clocks differ by %.1f us, known to %.1f us\n", static_cast<double>(ahead) / 1000,
                static_cast<double>(known_to) / 1000);
  }
  auto* stamps = static_cast<std::uint64_t*>(s.maker ? s.own_stamps.data() : s.stamps.data());
  PGAS_CUDA(cudaHostRegister(stamps, 4096, cudaHostRegisterMapped));
  std::vector<double> taken[3];
  const auto cuda_event = static_cast<cudaEvent_t>(s.event.cuda_event());
  const two_gpus::event_wait wait(cuda_event, across);
  std::uint64_t step = 0;
  for (int round = 0; round < 600; ++round) {
    const int way = round % 3;  // 0: timeline, 1: CUDA's own calls, 2: ipc_event
    const std::uint64_t value = 1'000'000 + static_cast<std::uint64_t>(round);
    step += 1;
    if (s.maker) {
      spin_and_stamp<<<1, 1, 0, s.stream>>>(3'000'000, stamps);
      if (way == 0)
        s.forward.record(s.stream, value);
      else if (way == 1)
        PGAS_CUDA(cudaEventRecord(cuda_event, s.stream));
      else
        s.event.record(s.stream);
      std::atomic_ref(stamps[2]).store(step);
      s.back.wait_host(step);
      s.synchronize();
    } else {
      while (std::atomic_ref(stamps[2]).load() != step) {
      }
      if (way == 0)
        s.forward.wait(s.stream, value);
      else if (way == 1)
        PGAS_CUDA(wait(s.stream));
      else
        s.event.wait(s.stream);
      spin_and_stamp<<<1, 1, 0, s.stream>>>(0, stamps + 8);
      s.synchronize();
      taken[way].push_back(static_cast<double>(static_cast<std::int64_t>(stamps[8] - stamps[0]) - ahead) / 1000);
      s.back.set(step);
    }
  }
  if (s.maker) return;
  for (std::vector<double>& list : taken) std::sort(list.begin(), list.end());
  const auto at = [&](int way, std::size_t percent) { return taken[way][taken[way].size() * percent / 100]; };
  const char* names[] = {"timeline", "cudaStreamWaitEvent", "ipc_event"};
  std::printf("stream to stream, median (10th and 90th percentile) of 200:");
  for (int way = 0; way < 3; ++way)
    std::printf(" %s %.1f us (%.1f, %.1f), %.2f times CUDA's;", names[way], at(way, 50), at(way, 10), at(way, 90),
                at(way, 50) / at(1, 50));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  static_cast<void>(std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ));  // if a side hangs, its progress so far is printed
  const std::string mode = argv[3];
  side s = set_up(std::string(argv[1]) == "make", argv[2]);
  if (mode == "order") order(s);
  if (mode == "graph") graph(s);
  if (mode == "kernel") kernel(s);
  if (mode == "event") event(s);
  if (mode == "lost") lost(s);
  if (mode == "event-lost") event_lost(s, true);
  if (mode == "event-taker") event_lost(s, false);
  if (mode == "latency") latency(s);
  // Each side keeps the objects that the other side may still use.
  s.mine().set(pgas::timeline::max_value);
  if (mode != "lost" && !mode.starts_with("event-")) s.theirs().wait_host(pgas::timeline::max_value);
  std::printf("%s: %d failures\n", argv[1], failures);
  return failures == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::printf("failed: %s\n", failed.what());
  return 1;
}
