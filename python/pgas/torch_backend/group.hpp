/// @file
/// The backend's state of a torch process group: a team, and the log of its rendezvous.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>
#include <vector>

#include "pgas/pgas.hpp"
#include "rendezvous_log.hpp"

namespace pgas::torch_backend {

/// A group. torch reuses the names of destroyed groups, so the object identifies a group, and the name does not.
class group {
 public:
  /// @param group torch's present group with that name
  /// @param limit the time for which a rank waits for others @param owner an object that keeps the team and the pages
  /// alive
  group(std::string name, const c10::intrusive_ptr<c10d::ProcessGroup>& of, const team& members, std::size_t slot,
        std::vector<int> global_ranks, std::vector<rendezvous_page*> pages, std::chrono::milliseconds limit,
        std::shared_ptr<void> owner)
      : process_group_(of),
        members_(members),
        slot_(slot),
        global_ranks_(std::move(global_ranks)),
        log_(std::move(name), members, std::move(pages), limit),
        owner_(std::move(owner)) {}

  /// Whether the object was created for this group of torch, and not for another group with the same name.
  [[nodiscard]] bool is_of(const c10::intrusive_ptr<c10d::ProcessGroup>& other) const {
    return other.defined() &&
           process_group_._unsafe_get_target() == other.get();  // the weak reference prevents reuse of the address
  }
  /// Whether torch has destroyed the group. *Callers* as for block::views.
  [[nodiscard]] bool retired() const { return retired_; }
  void retire() { retired_ = true; }

  [[nodiscard]] const team& members() const { return members_; }
  /// The number of the group's set of words in a block. All groups of a rank have different numbers.
  [[nodiscard]] std::size_t slot() const { return slot_; }
  [[nodiscard]] const std::vector<int>& global_ranks() const { return global_ranks_; }
  /// Locked during a rendezvous.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] rendezvous_log& log() { return log_; }
  /// The number of allocations with which the group has made a rendezvous. *Callers* hold the mutex.
  std::uint64_t allocations = 0;

 private:
  c10::weak_intrusive_ptr<c10d::ProcessGroup> process_group_;
  bool retired_ = false;
  const team& members_;
  std::size_t slot_;
  std::vector<int> global_ranks_;
  std::mutex mutex_;
  rendezvous_log log_;
  std::shared_ptr<void> owner_;
};

}  // namespace pgas::torch_backend
