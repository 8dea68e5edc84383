/// @file
/// Joining a world with the processes of an MPI communicator. This header is compiled in the program's own translation
/// unit against the program's own MPI; the library itself knows nothing of MPI and fits them all.
///
///     MPI_Init(&argc, &argv);
///     pgas::world world = pgas::world::join(std::make_unique<pgas::mpi_bootstrap>(MPI_COMM_WORLD));
#pragma once

#include <mpi.h>

#include <chrono>
#include <climits>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas {

/// Exchange over a communicator of any size, of which it keeps a duplicate of its own.
///
/// *Callers* a thread that MPI allows to communicate: with MPI_THREAD_FUNNELED the one that initialized MPI. More is
/// not required. MPI must stay initialized as long as this object is used; it may be finalized before it is destroyed.
/// *Errors* bootstrap_timeout: MPI does not tell which rank is missing; bootstrap_protocol with MPI's own words.
class mpi_bootstrap final : public bootstrap {
 public:
  /// Collective over `comm`.
  explicit mpi_bootstrap(MPI_Comm comm, std::chrono::milliseconds timeout = std::chrono::seconds(60))
      : timeout_(timeout) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0 || finalized())
      throw error{code::bootstrap_unavailable,
                  "MPI is not initialized; call MPI_Init before joining and finalize after leaving"};
    // The duplicate is written whenever MPI gets to it, so it lives where it can be left behind.
    auto duplicate = begin();
    check(MPI_Comm_idup(comm, &duplicate->comm, &duplicate->request), "MPI_Comm_idup");
    finish(duplicate, "duplicating the communicator");
    comm_ = duplicate->comm;
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }

  ~mpi_bootstrap() override {
    if (!stuck_ && !finalized()) MPI_Comm_free(&comm_);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    constexpr std::size_t most = 64 << 10;
    if (mine.size() > most)
      throw error{code::invalid_argument, "all_gather: " + std::to_string(mine.size()) + " bytes; at most " +
                                              std::to_string(most) + " are allowed"};
    const auto n = static_cast<std::size_t>(size_);
    auto lengths = begin();
    lengths->mine_length = static_cast<int>(mine.size());
    lengths->lengths.resize(n);
    check(MPI_Iallgather(&lengths->mine_length, 1, MPI_INT, lengths->lengths.data(), 1, MPI_INT, comm_,
                         &lengths->request),
          "MPI_Iallgather");
    finish(lengths, "an all-gather");

    auto all = begin();
    all->lengths = std::move(lengths->lengths);
    all->mine_length = lengths->mine_length;
    all->mine.assign(mine.begin(), mine.end());
    long long total = 0;
    for (const int length : all->lengths) {
      all->offsets.push_back(static_cast<int>(total));
      total += length;
      if (length < 0 || total > INT_MAX)
        throw error{code::bootstrap_protocol, "all_gather: the contributions are together longer than MPI can express"};
    }
    all->everything.resize(static_cast<std::size_t>(total));
    check(MPI_Iallgatherv(all->mine.data(), all->mine_length, MPI_BYTE, all->everything.data(), all->lengths.data(),
                          all->offsets.data(), MPI_BYTE, comm_, &all->request),
          "MPI_Iallgatherv");
    finish(all, "an all-gather");

    std::vector<blob> parts(n);
    for (std::size_t from = 0; from < n; ++from) {
      const auto first = all->everything.begin() + all->offsets[from];
      parts[from].assign(first, first + all->lengths[from]);
    }
    return parts;
  }

  void barrier() override {
    auto all = begin();
    check(MPI_Ibarrier(comm_, &all->request), "MPI_Ibarrier");
    finish(all, "a barrier");
  }

  /// MPI knows only one way, MPI_Abort, and most implementations of it end the calling process as well.
  void abort(std::string_view) noexcept override {
    if (!finalized()) MPI_Abort(comm_, 1);
  }

 private:
  /// A non-blocking operation and all memory that MPI may touch until it is complete.
  struct operation {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int mine_length = 0;
    blob mine;
    std::vector<int> lengths;
    std::vector<int> offsets;
    blob everything;
  };

  [[nodiscard]] std::unique_ptr<operation> begin() const {
    if (stuck_) throw error{code::bootstrap_timeout, "an earlier exchange over MPI did not end; leave this world"};
    return std::make_unique<operation>();
  }

  [[nodiscard]] static bool finalized() {
    int yes = 0;
    MPI_Finalized(&yes);
    return yes != 0;
  }

  void check(int status, std::string_view what) const {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw error{code::bootstrap_protocol, std::string{what} +
                                              " failed: " + std::string{text, static_cast<std::size_t>(length)} +
                                              ". See the output of MPI and of the other ranks"};
  }

  /// Waits until `one` is complete. At the time limit MPI still owns its memory, so that is left behind for good.
  void finish(std::unique_ptr<operation>& one, std::string_view what) {
    const auto limit = std::chrono::steady_clock::now() + timeout_;
    for (int tries = 0;; ++tries) {
      int done = 0;
      check(MPI_Test(&one->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) return;
      if (std::chrono::steady_clock::now() >= limit) break;
      constexpr int tries_without_sleep = 1000;
      if (tries > tries_without_sleep) std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
    stuck_ = true;
    (void)one.release();
    throw error{code::bootstrap_timeout,
                "rank " + std::to_string(rank_) + " waited " + std::to_string(timeout_.count()) +
                    " ms for the other ranks of the communicator to come to " + std::string{what} +
                    ". Check that all make the same calls, and whether they still run"};
  }

  std::chrono::milliseconds timeout_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  bool stuck_ = false;  // an operation was left behind
};

}  // namespace pgas
