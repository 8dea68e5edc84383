/// @file
/// A process group of torch as the backend has it: a team, and the log of its rendezvous.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pgas/pgas.hpp"
#include "rendezvous_log.hpp"

namespace pgas::torch_backend {

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
