/// @file
/// The log by which the ranks of a group verify that they use the same memory in a rendezvous.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pgas/pgas.hpp"

namespace pgas::torch_backend {

/// The record of one rendezvous of a rank. The other ranks read the record.
struct rendezvous_record {
  /// number of the allocation, counted from 0 among the allocations with which the group has made a rendezvous
  std::atomic<std::uint64_t> allocation;
  std::atomic<std::uint64_t> offset;  ///< offset in the allocation
  std::atomic<std::uint64_t> bytes;   ///< bytes of the allocation
};

/// A rank's data in memory that the ranks of its host share.
struct rendezvous_page {
  static constexpr std::size_t length = 1024;
  static constexpr std::uint64_t failed = ~std::uint64_t{0};
  std::atomic<std::uint64_t> calls;
  /// The last call in which another rank relies on this rank, or `failed` after a wait of this rank has failed. For
  /// each call, either another rank relies on this rank or the wait of this rank fails, so no rank enters a collective
  /// without the others.
  std::atomic<std::uint64_t> relied_on;
  std::array<rendezvous_record, length> records;  ///< a ring
};

/// Compares the rendezvous calls of the ranks of one host. torch makes a second rendezvous with the same block without
/// communication. If ranks reuse blocks in different ways, one rank's tensor would therefore correspond to a different
/// tensor of another rank. The comparison does not wait. The second rank that makes a call detects a difference
/// immediately, and the first rank detects the difference at its next call.
///
/// *Callers* one thread at a time.
class rendezvous_log {
 public:
  /// @param pages the pages of all ranks; null for ranks of other hosts, which are not compared
  /// @param limit the time for which a call waits for other ranks
  rendezvous_log(std::string group, const team& ranks, std::vector<rendezvous_page*> pages,
                 std::chrono::milliseconds limit)
      : group_(std::move(group)),
        rank_(ranks.my_pe()),
        pages_(std::move(pages)),
        limit_(limit),
        compared_(pages_.size(), 0) {
    for (int rank = 0; rank < ranks.n_pes(); ++rank) pes_.push_back(ranks.world_pe(rank));
  }

  struct entry {
    std::uint64_t allocation;
    std::uint64_t offset;
    std::uint64_t bytes;
    friend bool operator==(const entry&, const entry&) = default;
  };
  /// Records the next call of this rank. If this rank is a whole ring of records ahead of another rank, it waits for
  /// that rank.
  /// *Errors* asymmetric_call, naming the first rank that differs; each later call throws the same error. wait_timeout.
  void enter(const entry& mine, const world& of);
  /// Returns when the other ranks have made the same call as this rank's last call. Called before an operation of all
  /// ranks. After PGAS_WAIT_WARNING, a warning names the awaited rank. *Errors* as enter(), with wait_timeout on all
  /// ranks after the limit; the errors of the world.
  void await_others(const world& of);

 private:
  void await_room(std::uint64_t number, const world& of) const;
  void compare(std::size_t rank, std::uint64_t up_to);
  void throw_difference() const;
  /// Lets the wait of a call fail, unless another rank relies on this rank. If another rank relies on it, all ranks
  /// have made the call.
  [[nodiscard]] bool fail_wait(std::uint64_t number);
  /// *Errors* wait_timeout if the wait of a rank has failed.
  void refuse_failed(std::uint64_t number) const;
  /// Relies on a rank that has made the call. *Errors* as refuse_failed().
  void rely_on(std::size_t rank, std::uint64_t number);
  [[nodiscard]] std::string text_of_wait(std::size_t rank, std::uint64_t number,
                                         std::chrono::milliseconds lasted) const;
  [[nodiscard]] static entry read(const rendezvous_page& page, std::uint64_t number);

  std::string group_;
  int rank_;
  std::vector<int> pes_;  ///< for each rank of the group, its PE in the world, for errors
  std::vector<rendezvous_page*> pages_;
  std::chrono::milliseconds limit_;
  std::vector<std::uint64_t> compared_;  ///< for each rank, the number of its calls that have been compared
  std::string difference_;
  int different_pe_ = -1;
};

}  // namespace pgas::torch_backend
