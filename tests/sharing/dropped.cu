// Drops memory, timelines and events while work of a GPU still uses them. The streams belong to the program, and the
// library does not know the streams. Each run tests one mode:
//
//     dropped opened | made | timeline | recorded | event | capture | exit | fork
#include <cuda_runtime.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "pgas/error.hpp"
#include "pgas/ipc_event.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

extern char** environ;

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t bytes = std::size_t{8} << 20;
const pgas::memory_place gpu = pgas::memory_place::gpu(0);
int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::printf("failed: %s\n", cudaGetErrorString(result));
  std::fflush(stdout);
  std::_Exit(1);
}

bool comes(const auto& condition) {
  for (int i = 0; i < 10000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

/// Two words that the host and kernels access: whether kernels may continue, and the value that the last kernel has
/// read.
struct words {
  volatile int go;
  volatile int read;
};

words* new_words() {
  words* result = nullptr;
  check(cudaHostAlloc(&result, sizeof(words), cudaHostAllocMapped));
  result->go = 0;
  result->read = 0;
  return result;
}

__global__ void read_when_told(words* at, const int* from) {
  while (at->go == 0) __nanosleep(1000);
  at->read = from == nullptr ? 1 : *from;
}

__global__ void fill(int* at, int value) { *at = value; }

__global__ void last_for(long long ns, const int* from, int* to) {
  long long begin = 0;
  long long now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < ns);
  *to = *from;
}

/// Drops an object while a kernel uses it. The drop must not wait for the kernel.
template <class Object>
void drop(Object& what) {
  const auto begin = clock_type::now();
  what = Object();
  const auto took = clock_type::now() - begin;
  std::printf("dropped in %.1f us\n", std::chrono::duration<double, std::micro>(took).count());
  expect(took < 2s, "a drop does not wait for a kernel");
  std::this_thread::sleep_for(300ms);  // longer than the interval in which the library checks idle streams
}

bool is_mapped(const void* at) {
  cudaPointerAttributes is{};
  const bool known = cudaPointerGetAttributes(&is, at) == cudaSuccess && is.type == cudaMemoryTypeDevice;
  static_cast<void>(cudaGetLastError());
  return known;
}

template <class Memory>
void drop_memory(Memory& memory) {
  words* const at = new_words();
  const cudaStream_t stream = new_stream();
  int* const data = static_cast<int*>(memory.data());
  fill<<<1, 1, 0, stream>>>(data, 42);
  check(cudaStreamSynchronize(stream));
  read_when_told<<<1, 1, 0, stream>>>(at, data);
  drop(memory);
  expect(is_mapped(data), "memory stays while a kernel uses it");
  at->go = 1;
  check(cudaStreamSynchronize(stream));
  expect(at->read == 42, "the kernel reads what was there");
  expect(comes([&] { return !is_mapped(data); }), "memory is released once the kernel has ended");
}

void opened() {
  pgas::shared_memory mine = pgas::shared_memory::make(gpu, bytes);
  pgas::opened_memory theirs = pgas::opened_memory::open(mine.ticket());
  drop_memory(theirs);
  expect(comes([&] { return mine.opened_by().empty(); }), "the exporter learns of it");
}

void drop_own_memory() {
  pgas::shared_memory mine = pgas::shared_memory::make(gpu, bytes);
  drop_memory(mine);
}

/// A stream waits for a timeline whose object was dropped.
void timeline() {
  pgas::timeline mine = pgas::timeline::make(gpu);
  pgas::timeline theirs = pgas::timeline::open(mine.ticket());
  words* const at = new_words();
  at->go = 1;
  const cudaStream_t stream = new_stream();
  theirs.wait(stream, 1);
  read_when_told<<<1, 1, 0, stream>>>(at, nullptr);
  drop(theirs);
  expect(cudaStreamQuery(stream) == cudaErrorNotReady, "the wait goes on");
  mine.set(1);
  check(cudaStreamSynchronize(stream));
  expect(at->read == 1, "the wait ends with its value");
  expect(comes([&] { return mine.opened_by().empty(); }), "the page is released then");
  check(cudaDeviceSynchronize());
}

/// A stream records in a timeline whose object was dropped.
void recorded() {
  pgas::timeline mine = pgas::timeline::make(gpu);
  const pgas::timeline theirs = pgas::timeline::open(mine.ticket(), {.place = pgas::memory_place::host()});
  words* const at = new_words();
  const cudaStream_t stream = new_stream();
  read_when_told<<<1, 1, 0, stream>>>(at, nullptr);
  mine.record(stream, 5);
  drop(mine);
  expect(theirs.query() == 0, "the stream is not there yet");
  at->go = 1;
  try {
    theirs.wait_host(5, 20s);
  } catch (const pgas::error& failed) {
    expect(false, failed.what());
  }
  check(cudaStreamSynchronize(stream));
  try {
    theirs.wait_host(6, 20s);
    expect(false, "nobody records any more");
  } catch (const pgas::error& failed) {
    expect(failed.code() == pgas::code::peer_lost, failed.what());
  }
}

/// The maker of an event: prints a ticket, and records on a waiting stream.
int make_event() {
  pgas::ipc_event mine = pgas::ipc_event::make(gpu);
  words* const at = new_words();
  const cudaStream_t slow = new_stream();
  std::cout << mine.ticket() << std::endl;
  read_when_told<<<1, 1, 0, slow>>>(at, nullptr);
  mine.record(slow);
  std::string line;
  std::cout << "recorded" << std::endl;
  std::getline(std::cin, line);
  at->go = 1;
  check(cudaStreamSynchronize(slow));
  std::cout << "reached" << std::endl;
  std::getline(std::cin, line);
  expect(comes([&] { return mine.opened_by().empty(); }), "the event is closed by the one that had dropped it");
  return failures == 0 ? 0 : 1;
}

/// Two streams wait for a record of another process when the event is dropped.
void event() {
  int to[2];
  int from[2];
  if (::pipe(to) != 0 || ::pipe(from) != 0) std::exit(3);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  for (const int fd : {to[0], to[1], from[0], from[1]}) ::posix_spawn_file_actions_addclose(&actions, fd);
  char name[] = "dropped";
  char role[] = "make_event";
  char* arguments[] = {name, role, nullptr};
  pid_t maker = -1;
  if (::posix_spawn(&maker, "/proc/self/exe", &actions, nullptr, arguments, environ) != 0) std::exit(3);
  ::close(to[0]);
  ::close(from[1]);
  FILE* const commands = ::fdopen(to[1], "w");
  FILE* const answers = ::fdopen(from[0], "r");
  const auto answer = [&] {
    char line[2000] = {};
    if (std::fgets(line, sizeof line, answers) == nullptr) std::exit(3);
    return std::string(line, std::strlen(line) - 1);
  };
  const auto command = [&] {
    std::fputs("go\n", commands);
    std::fflush(commands);
  };
  pgas::ipc_event theirs = pgas::ipc_event::open(answer());
  expect(answer() == "recorded", "the maker has recorded");
  words* const at = new_words();
  at->go = 1;
  const cudaStream_t first = new_stream();
  const cudaStream_t second = new_stream();
  theirs.wait(first);
  read_when_told<<<1, 1, 0, first>>>(at, nullptr);
  theirs.wait(second);
  drop(theirs);
  // Making a new event checks the dropped events.
  static_cast<void>(pgas::ipc_event::make(gpu));
  expect(cudaStreamQuery(first) == cudaErrorNotReady && at->read == 0, "the first wait goes on");
  expect(cudaStreamQuery(second) == cudaErrorNotReady, "the second wait goes on");
  command();
  expect(answer() == "reached", "the maker has reached its record");
  check(cudaStreamSynchronize(first));
  check(cudaStreamSynchronize(second));
  expect(at->read == 1, "the waits end with the record");
  command();
  int status = -1;
  expect(::waitpid(maker, &status, 0) == maker && WIFEXITED(status) && WEXITSTATUS(status) == 0,
         "the maker is content");
}

/// Drops objects in another thread while a stream is being captured. The capture of a stream that synchronizes with the
/// default stream stays valid. The drops can invalidate the capture of a stream that does not synchronize with the
/// default stream. CUDA reports this. In both cases the dropped objects are released.
void capture() {
  for (const auto& [mode, name] :
       {std::pair(cudaStreamCaptureModeRelaxed, "relaxed"), std::pair(cudaStreamCaptureModeThreadLocal, "thread-local"),
        std::pair(cudaStreamCaptureModeGlobal, "global")}) {
    for (const unsigned flags : {cudaStreamNonBlocking, cudaStreamDefault}) {
      pgas::shared_memory mine = pgas::shared_memory::make(gpu, bytes);
      pgas::opened_memory theirs = pgas::opened_memory::open(mine.ticket());
      void* const data = theirs.data();
      int* target = nullptr;
      check(cudaMalloc(&target, sizeof(int)));
      cudaStream_t stream = nullptr;
      check(cudaStreamCreateWithFlags(&stream, flags));
      check(cudaStreamBeginCapture(stream, mode));
      fill<<<1, 1, 0, stream>>>(target, 3);
      std::thread([&] { theirs = pgas::opened_memory(); }).join();
      std::this_thread::sleep_for(300ms);
      fill<<<1, 1, 0, stream>>>(target, 4);
      cudaGraph_t graph = nullptr;
      const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
      const bool valid = ended == cudaSuccess && graph != nullptr;
      std::printf("a drop during a %s capture of a %s stream: the capture is %s (%s)\n", name,
                  flags == cudaStreamNonBlocking ? "non-blocking" : "blocking", valid ? "valid" : "invalid",
                  cudaGetErrorName(ended));
      static_cast<void>(cudaGetLastError());
      expect(valid || (flags == cudaStreamNonBlocking && ended == cudaErrorStreamCaptureInvalidated),
             "a drop leaves a capture valid, or CUDA reports it");
      expect(comes([&] { return !is_mapped(data); }), "what was dropped is released after the capture");
      if (graph != nullptr) check(cudaGraphDestroy(graph));
      check(cudaStreamDestroy(stream));
      check(cudaFree(target));
    }
  }
}

/// Ends a process that has dropped memory while a kernel uses it for half a second.
void exit_soon() {
  pgas::shared_memory mine = pgas::shared_memory::make(gpu, bytes);
  pgas::opened_memory theirs = pgas::opened_memory::open(mine.ticket());
  int* target = nullptr;
  check(cudaMalloc(&target, sizeof(int)));
  last_for<<<1, 1, 0, new_stream()>>>(500'000'000, static_cast<int*>(theirs.data()), target);
  drop(theirs);
}

void fork_soon() {
  pgas::shared_memory mine = pgas::shared_memory::make(gpu, bytes);
  words* const at = new_words();
  const cudaStream_t stream = new_stream();
  int* const data = static_cast<int*>(mine.data());
  fill<<<1, 1, 0, stream>>>(data, 42);
  check(cudaStreamSynchronize(stream));
  read_when_told<<<1, 1, 0, stream>>>(at, data);
  pgas::timeline kept = pgas::timeline::make(gpu);
  drop(mine);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    kept = pgas::timeline();  // the object belongs to the parent, so nothing happens
    pgas::shared_memory own = pgas::shared_memory::make(pgas::memory_place::host(), 4096);
    own = pgas::shared_memory();
    std::_Exit(0);
  }
  int status = -1;
  expect(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends well");
  at->go = 1;
  check(cudaStreamSynchronize(stream));
  expect(at->read == 42, "the parent's memory stays");
  expect(comes([&] { return !is_mapped(data); }), "memory is released once the kernel has ended");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  ::alarm(90);
  // Loading a kernel at its first launch can wait for all work of the context, including waits of streams.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  check(cudaFree(nullptr));
  try {
    if (mode == "make_event") return make_event();
    if (mode == "opened")
      opened();
    else if (mode == "made")
      drop_own_memory();
    else if (mode == "timeline")
      timeline();
    else if (mode == "recorded")
      recorded();
    else if (mode == "event")
      event();
    else if (mode == "capture")
      capture();
    else if (mode == "exit")
      exit_soon();
    else if (mode == "fork")
      fork_soon();
    else
      return 2;
  } catch (const pgas::error& failed) {
    expect(false, failed.what());
  }
  std::printf("%s: %d failures\n", argv[1], failures);
  return failures == 0 ? 0 : 1;
}
