#include "bench.hpp"

#include <nvshmem.h>
#include <nvshmemx.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace side_by_side {

namespace {

constexpr std::size_t vote_words = 16;
constexpr std::size_t signal_words = 4096;

double free_mebibytes() {
  std::size_t free_bytes = 0, all = 0;
  must(cudaMemGetInfo(&free_bytes, &all), "free memory");
  return static_cast<double>(free_bytes) / (1 << 20);
}

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  _exit(3);
}

/// PE 0 writes the id to a file with another name and renames the file, so that no PE reads an incomplete id.
nvshmemx_uniqueid_t exchange(const char* path, int rank) {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  const std::string unfinished = std::string(path) + ".part";
  if (rank == 0) {
    if (nvshmemx_get_uniqueid(&id) != 0) give_up("no unique id");
    std::ofstream(unfinished, std::ios::binary).write(reinterpret_cast<const char*>(&id), sizeof id);
    if (std::rename(unfinished.c_str(), path) != 0) give_up("the unique id can't be written");
    return id;
  }
  for (int tries = 0; tries < 60000; ++tries) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(reinterpret_cast<char*>(&id), sizeof id)) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  give_up("PE 0 has written no unique id");
}

std::uint64_t* allocate_words(std::size_t words) {
  void* const found = nvshmem_malloc(words * sizeof(std::uint64_t));
  if (found == nullptr) give_up("no symmetric memory");
  return static_cast<std::uint64_t*>(found);
}

}  // namespace

std::vector<group>& groups() {
  static std::vector<group> all;
  return all;
}

bench::bench(const char* id_file, int rank, int size, bool share) : me_(rank), n_(size) {
  int devices = 0;
  must(cudaGetDeviceCount(&devices), "counting GPUs");
  if ((size > devices && !share) || size > most_pes) give_up("fewer GPUs than PEs");
  must(cudaSetDevice(rank % devices), "choosing a GPU");
  must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
  must(cudaMalloc(&times_, most_blocks * sizeof(span)), "memory");
  must(cudaMalloc(&wrong_, sizeof *wrong_), "memory");
  must(cudaMemset(wrong_, 0, sizeof *wrong_), "memory");
  load_code();
  nvshmemx_uniqueid_t id = exchange(id_file, rank);

  const double before = free_mebibytes();
  const auto start = std::chrono::steady_clock::now();
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (nvshmemx_set_attr_uniqueid_args(rank, size, &id, &attributes) != 0 ||
      nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0)
    give_up("joining has failed");
  first_kernel(stream_);
  joined_.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  joined_.mebibytes = before - free_mebibytes();
  votes_ = allocate_words(vote_words);
  joined_.with_first = before - free_mebibytes();
  signals_ = allocate_words(signal_words);
}

bench::~bench() {
  for (std::uint64_t* const each : {dest_, source_, signals_, votes_})
    if (each != nullptr) nvshmem_free(each);
  static_cast<void>(cudaFree(times_));
  static_cast<void>(cudaFree(wrong_));
  static_cast<void>(cudaStreamDestroy(stream_));
  nvshmem_finalize();
}

template <typename Reduce>
std::uint64_t bench::vote(std::uint64_t mine, Reduce reduce) {
  std::uint64_t all = 0;
  must(cudaMemcpy(votes_, &mine, sizeof mine, cudaMemcpyHostToDevice), "voting");
  nvshmem_barrier_all();
  reduce(NVSHMEM_TEAM_WORLD, votes_ + 8, votes_, 1);
  nvshmem_barrier_all();
  must(cudaMemcpy(&all, votes_ + 8, sizeof all, cudaMemcpyDeviceToHost), "voting");
  return all;
}

double bench::largest(double mine) {
  return static_cast<double>(vote(static_cast<std::uint64_t>(mine * 1e12), nvshmem_uint64_max_reduce)) / 1e12;
}

std::uint64_t bench::total(std::uint64_t mine) { return vote(mine, nvshmem_uint64_sum_reduce); }

void bench::barrier() { nvshmem_barrier_all(); }

void bench::allocate(std::size_t bytes) {
  bytes_ = bytes;
  source_ = allocate_words(bytes / 8);
  dest_ = allocate_words(bytes / 8);
  fill(source_, bytes / 8, seed(), me_);
  poison(dest_, bytes);
  barrier();
}

void bench::prepare(std::size_t dest_bytes) {
  poison(dest_, std::min(bytes_, dest_bytes));
  must(cudaMemset(signals_, 0, signal_words * 8), "signals");
  must(cudaMemset(wrong_, 0, sizeof *wrong_), "counters");
  must(cudaMemset(times_, 0, most_blocks * sizeof(span)), "times");
  must(cudaDeviceSynchronize(), "preparing");
}

arguments bench::arguments_for(const kernel& what, int iterations) {
  arguments a{};
  a.dest = dest_;
  a.source = source_;
  a.signal = signals_;
  a.words = what.words;
  a.me = me_;
  a.n = n_;
  a.peer = peer();
  a.warm_up = std::clamp(iterations / 10, 1, 100);
  a.iterations = iterations;
  a.times = times_;
  a.wrong = wrong_;
  if (n_ > 1) {
    a.dest_there = mapped(dest_, a.peer);
    a.source_there = mapped(source_, a.peer);
    a.signal_there = mapped(signals_, a.peer);
  }
  for (int pe = 0; pe < n_; ++pe) a.signals_of[pe] = mapped(signals_, pe);
  return a;
}

double bench::run(const kernel& what, int iterations) {
  arguments a = arguments_for(what, iterations);
  void* list[] = {&a};
  if (nvshmemx_collective_launch(what.function, dim3(static_cast<unsigned>(what.blocks)),
                                 dim3(static_cast<unsigned>(what.threads)), list, 0, stream_) != 0)
    give_up("a kernel was not launched");
  must(cudaStreamSynchronize(stream_), "a kernel");
  span times[most_blocks];
  must(cudaMemcpy(times, times_, sizeof times, cudaMemcpyDeviceToHost), "reading times");
  unsigned long long first = ~0ull, last = 0;
  for (int i = 0; i < what.blocks; ++i) {
    if (times[i].end == 0) return 0;
    first = std::min(first, times[i].start);
    last = std::max(last, times[i].end);
  }
  return static_cast<double>(last - first) / 1e9;
}

std::uint64_t bench::counted_wrong() {
  unsigned long long counted = 0;
  must(cudaMemcpy(&counted, wrong_, sizeof counted, cudaMemcpyDeviceToHost), "checking");
  return counted;
}

void bench::measure(report& to, const row& kernel_row, const kernel& what) {
  work how;
  how.prepare = [&] { prepare(what.words_to_check * 8); };
  how.run = [&](int iterations) { return run(what, iterations); };
  how.wrong = [&](int) -> std::uint64_t {
    const std::uint64_t counted = counted_wrong();
    if (what.only_on && what.checked_pe != me_) return counted;
    return counted + (what.words_to_check == 0 ? 0 : wrong_words(dest_, what.words_to_check, what.as));
  };
  to.measure(kernel_row, how);
}

std::uint64_t* mapped(std::uint64_t* symmetric, int pe) {
  return static_cast<std::uint64_t*>(nvshmem_ptr(symmetric, pe));
}

}  // namespace side_by_side
