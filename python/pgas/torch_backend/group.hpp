/// @file
/// A process group of torch as the backend has it: a team, and the log by which its ranks see that they meet over the
/// same memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "pgas/pgas.hpp"
#include "pgas/registration.hpp"

namespace pgas::torch_backend {

/// One rendezvous of a rank, as the others read it.
struct rendezvous_record {
  std::atomic<std::uint64_t> allocation;  ///< its number among those that the group has met over, from 0 on
  std::atomic<std::uint64_t> offset;      ///< in the allocation
  std::atomic<std::uint64_t> bytes;       ///< of the allocation
};

/// What a rank has in memory that the ranks of its host share.
struct rendezvous_page {
  static constexpr std::size_t length = 1024;
  std::atomic<std::uint64_t> calls;
  std::array<rendezvous_record, length> records;  ///< a ring
};

/// Compares the rendezvous of the ranks of one host, which torch makes without communication where it has met over a
/// block before: so ranks that reuse blocks differently would read each other's other tensors. Nobody waits: whoever
/// comes second sees the difference at once, and who came first at its next call.
///
/// *Callers* one thread at a time.
class rendezvous_log {
 public:
  /// @param pages of all ranks; null for ranks of other hosts, which are not compared
  rendezvous_log(std::string group, int rank, std::vector<rendezvous_page*> pages)
      : group_(std::move(group)), rank_(rank), pages_(std::move(pages)), compared_(pages_.size(), 0) {}

  struct entry {
    std::uint64_t allocation;
    std::uint64_t offset;
    std::uint64_t bytes;
    friend bool operator==(const entry&, const entry&) = default;
  };
  /// The next call of this rank. A rank that is a whole ring ahead of another waits for it.
  /// *Errors* asymmetric_call, naming the first rank that differs, from then on at each call; wait_timeout.
  void enter(const entry& mine, const world& of);
  /// Returns when the other ranks have made the same call as this one's last, before something in which all have to
  /// take part. *Errors* as enter(); those of the world.
  void await_others(const world& of);

 private:
  void await_room(std::uint64_t number, const world& of) const;
  void compare(std::size_t rank, std::uint64_t up_to);
  void throw_difference() const;
  [[nodiscard]] static entry read(const rendezvous_page& page, std::uint64_t number);

  std::string group_;
  int rank_;
  std::vector<rendezvous_page*> pages_;
  std::vector<std::uint64_t> compared_;  ///< how many calls of each rank
  std::string difference_;
  int different_rank_ = -1;
};

/// The group. The team and the pages belong to Python, which keeps them until the world is left.
class group {
 public:
  group(std::string name, const team& members, std::size_t slot, std::vector<int> global_ranks,
        std::vector<rendezvous_page*> pages)
      : members_(members),
        slot_(slot),
        global_ranks_(std::move(global_ranks)),
        log_(std::move(name), members.my_pe(), std::move(pages)) {}

  [[nodiscard]] const team& members() const { return members_; }
  /// Which words of a block it uses: no two groups of a rank have the same.
  [[nodiscard]] std::size_t slot() const { return slot_; }
  [[nodiscard]] const std::vector<int>& global_ranks() const { return global_ranks_; }
  /// One rendezvous at a time.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] rendezvous_log& log() { return log_; }
  /// How many allocations it has met over. *Callers* hold the mutex.
  std::uint64_t allocations = 0;

 private:
  const team& members_;
  std::size_t slot_;
  std::vector<int> global_ranks_;
  std::mutex mutex_;
  rendezvous_log log_;
};

}  // namespace pgas::torch_backend
