// Measures NCCL's collectives on a stream, in a separate program. The rows are the rows of rows_stream.cu.
//
// Usage: ID_FILE RANK SIZE [OPTIONS]; the options are in report.hpp. The status is 1 if data was wrong.
#include <nccl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "data.hpp"
#include "report.hpp"
#include "timing.hpp"

namespace side_by_side {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{128} << 20;
constexpr std::uint64_t seed = 20;

using side_by_side::must;
void must(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(status));
  _exit(3);
}

ncclUniqueId exchange(const char* path, int rank) {
  ncclUniqueId id{};
  const std::string unfinished = std::string(path) + ".part";
  if (rank == 0) {
    must(ncclGetUniqueId(&id), "a unique id");
    std::ofstream(unfinished, std::ios::binary).write(reinterpret_cast<const char*>(&id), sizeof id);
    if (std::rename(unfinished.c_str(), path) == 0) return id;
  }
  for (int tries = 0; tries < 60000; ++tries) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(reinterpret_cast<char*>(&id), sizeof id)) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::fprintf(stderr, "PE 0 has written no unique id\n");
  _exit(3);
}

class nccl : public together {
 public:
  nccl(const char* id_file, int rank, int size) : me_(rank), n_(size) {
    must(cudaSetDevice(rank), "choosing a GPU");
    must(ncclCommInitRank(&all_, size, exchange(id_file, rank), rank), "joining");
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    must(cudaMalloc(&votes_, 16), "memory");
    must(cudaMalloc(&source_, buffer_bytes), "memory");
    must(cudaMalloc(&dest_, buffer_bytes), "memory");
    fill(source_, buffer_bytes / 8, seed, rank);
  }
  ~nccl() override {
    for (std::uint64_t* const each : {votes_, source_, dest_}) static_cast<void>(cudaFree(each));
    static_cast<void>(ncclCommDestroy(all_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  nccl(const nccl&) = delete;
  nccl& operator=(const nccl&) = delete;

  int me() const override { return me_; }
  double largest(double mine) override {
    // the PEs agree on a whole number of picoseconds
    return static_cast<double>(agree(static_cast<std::uint64_t>(mine * 1e12), ncclMax)) / 1e12;
  }
  std::uint64_t total(std::uint64_t mine) override { return agree(mine, ncclSum); }
  void barrier() override { agree(0, ncclSum); }

  void rows(report& to) {
    const auto n = static_cast<std::size_t>(n_);
    for (const std::size_t bytes : allreduce_sizes) {
      measure(to, "stream_allreduce", bytes, bytes / 8, {expected::summed},
              [=] { must(ncclAllReduce(source_, dest_, bytes / 4, ncclInt32, ncclSum, all_, stream_), "all-reduce"); });
    }
    for (const std::size_t bytes : alltoall_sizes) {
      const std::size_t each = bytes / 8 / n;
      measure(to, "stream_alltoall", bytes, each * n, {expected::exchanged, 0, me_, 1, each}, [=] {
        must(ncclGroupStart(), "all-to-all");
        for (int pe = 0; pe < n_; ++pe) {
          const std::size_t at = static_cast<std::size_t>(pe) * each;
          must(ncclSend(source_ + at, each, ncclUint64, pe, all_, stream_), "all-to-all");
          must(ncclRecv(dest_ + at, each, ncclUint64, pe, all_, stream_), "all-to-all");
        }
        must(ncclGroupEnd(), "all-to-all");
      });
    }
    for (const std::size_t bytes : {1 << 10, 512 << 10, 32 << 20, 128 << 20}) {
      const std::size_t each = bytes / 8 / n;
      measure(to, "stream_fcollect", bytes, each * n, {expected::gathered, 0, 0, 1, each},
              [=] { must(ncclAllGather(source_, dest_, each, ncclUint64, all_, stream_), "all-gather"); });
    }
  }

 private:
  std::uint64_t agree(std::uint64_t mine, ncclRedOp_t by) {
    must(cudaMemcpy(votes_, &mine, sizeof mine, cudaMemcpyHostToDevice), "voting");
    must(ncclAllReduce(votes_, votes_ + 1, 1, ncclUint64, by, all_, stream_), "voting");
    must(cudaStreamSynchronize(stream_), "voting");
    must(cudaMemcpy(&mine, votes_ + 1, sizeof mine, cudaMemcpyDeviceToHost), "voting");
    return mine;
  }

  template <class Call>
  void measure(report& to, const char* name, std::size_t bytes, std::size_t words, expected as, Call call) {
    as.seed = seed;
    as.pes = n_;
    work how;
    how.prepare = [&] { poison(dest_, words * 8); };
    how.run = [&](int iterations) { return on_stream(stream_, iterations, call); };
    how.wrong = [&](int) { return wrong_words(dest_, words, as); };
    to.measure({name, bytes, 0, 0, "us", bytes <= 1 << 20 ? 100 : 10}, how);
  }

  int me_;
  int n_;
  ncclComm_t all_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::uint64_t* votes_ = nullptr;
  std::uint64_t* source_ = nullptr;
  std::uint64_t* dest_ = nullptr;
};

}  // namespace

}  // namespace side_by_side

int main(int argc, char** argv) {
  using namespace side_by_side;
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s ID_FILE RANK SIZE [OPTIONS]\n", argv[0]);
    return 2;
  }
  nccl pes(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
  report to(read_options(argc - 3, argv + 3), pes);
  pes.rows(to);
  if (pes.me() == 0) std::printf("{\"end\": true}\n");
  std::fflush(stdout);
  return to.failed() ? 1 : 0;
}
