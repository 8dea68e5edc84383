/// @file
/// A bootstrap over a communicator of any MPI library. A template parameter provides the functions of the library.
/// mpi.hpp instantiates the template for the program's MPI.
#pragma once

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

namespace pgas::detail {

/// See pgas::mpi_bootstrap. `Mpi` has the types `comm` and `request`. The static member functions of `Mpi` call MPI's
/// functions and return MPI's status: is_initialized, is_finalized, duplicate, free, rank, size, all_gather (of one
/// int), all_gather_v (of bytes), barrier, test, abort, null_request, text.
template <class Mpi>
class mpi_exchange final : public bootstrap {
 public:
  using comm_type = typename Mpi::comm;

  /// Collective over `comm`.
  explicit mpi_exchange(comm_type comm, std::chrono::milliseconds timeout = std::chrono::seconds(60))
      : timeout_(timeout) {
    if (!Mpi::is_initialized() || Mpi::is_finalized())
      throw error{code::bootstrap_unavailable,
                  "MPI is not initialized; call MPI_Init before joining and finalize after leaving"};
    // If the call below does not complete in time, MPI can still write to the duplicate later. So the duplicate is in
    // memory that can be leaked.
    auto duplicate = begin();
    check(Mpi::duplicate(comm, &duplicate->comm, &duplicate->request), "MPI_Comm_idup");
    finish(duplicate, "duplicating the communicator");
    comm_ = duplicate->comm;
    Mpi::return_errors(comm_);
    rank_ = Mpi::rank(comm_);
    size_ = Mpi::size(comm_);
  }

  ~mpi_exchange() override {
    if (!stuck_ && !Mpi::is_finalized()) Mpi::free(&comm_);
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
    check(Mpi::all_gather(&lengths->mine_length, lengths->lengths.data(), comm_, &lengths->request), "MPI_Iallgather");
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
    check(Mpi::all_gather_v(all->mine.data(), all->mine_length, all->everything.data(), all->lengths.data(),
                            all->offsets.data(), comm_, &all->request),
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
    check(Mpi::barrier(comm_, &all->request), "MPI_Ibarrier");
    finish(all, "a barrier");
  }

  /// Calls MPI_Abort, which in most implementations also ends the calling process.
  void abort(std::string_view) noexcept override {
    if (!Mpi::is_finalized()) Mpi::abort(comm_);
  }

 private:
  /// A non-blocking operation, and all memory that MPI may access until the operation is complete.
  struct operation {
    typename Mpi::request request = Mpi::null_request();
    comm_type comm{};
    int mine_length = 0;
    blob mine;
    std::vector<int> lengths;
    std::vector<int> offsets;
    blob everything;
  };

  [[nodiscard]] std::unique_ptr<operation> begin() const {
    if (stuck_) throw error{code::bootstrap_timeout, "an earlier exchange over MPI did not complete; leave this world"};
    return std::make_unique<operation>();
  }

  void check(int status, std::string_view what) const {
    if (status == 0) return;  // MPI_SUCCESS, which the standard defines as 0
    throw error{code::bootstrap_protocol,
                std::string{what} + " failed: " + Mpi::text(status) + ". See the output of MPI and of the other ranks"};
  }

  /// Waits until `one` is complete. If the time limit passes first, MPI still owns the memory of the operation, so this
  /// memory is leaked.
  void finish(std::unique_ptr<operation>& item, std::string_view what) {
    const auto limit = std::chrono::steady_clock::now() + timeout_;
    for (int tries = 0;; ++tries) {
      int done = 0;
      check(Mpi::test(&item->request, &done), "MPI_Test");
      if (done != 0) return;
      if (std::chrono::steady_clock::now() >= limit) break;
      constexpr int tries_without_sleep = 1000;
      if (tries > tries_without_sleep) std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
    stuck_ = true;
    (void)item.release();
    throw error{code::bootstrap_timeout, "rank " + std::to_string(rank_) + " waited " +
                                             std::to_string(timeout_.count()) +
                                             " ms for the other ranks of the communicator to come to " +
                                             std::string{what} + ". Check that all make the same calls and still run"};
  }

  std::chrono::milliseconds timeout_;
  comm_type comm_{};
  int rank_ = 0;
  int size_ = 0;
  bool stuck_ = false;  // the memory of an operation was leaked
};

}  // namespace pgas::detail
