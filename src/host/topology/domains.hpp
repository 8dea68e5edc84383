/// @file
/// Domains: the PEs that access one another's memory by load and store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace pgas::detail {

/// The PEs of a world, divided into domains. Each PE numbers the members of its domain in the order of their PE
/// numbers. The number of a member is the number of its slot in the layout. Members of the same domain are direct
/// peers, PEs of other domains
/// are proxied peers.
class domains {
 public:
  /// @param group_of a number for each PE, equal for the PEs of a domain
  domains(int me, const std::vector<int>& group_of) : group_of_(group_of), index_(group_of.size(), -1) {
    const int mine = group_of[static_cast<std::size_t>(me)];
    std::map<int, int> sizes;
    for (std::size_t pe = 0; pe < group_of.size(); ++pe) {
      largest_ = std::max(largest_, ++sizes[group_of[pe]]);
      if (group_of[pe] != mine) continue;
      index_[pe] = static_cast<int>(members_.size());
      members_.push_back(static_cast<int>(pe));
    }
  }

  /// The members of this PE's domain, in ascending order.
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  /// Whether PE `pe` is a direct peer or this PE.
  [[nodiscard]] bool direct(int pe) const noexcept { return index(pe) >= 0; }
  /// The number of PE `pe` among the members; -1 for a proxied peer.
  [[nodiscard]] int index(int pe) const noexcept { return index_[static_cast<std::size_t>(pe)]; }
  /// The number of each PE's domain.
  [[nodiscard]] std::span<const int> numbers() const noexcept { return group_of_; }
  /// index() of all PEs.
  [[nodiscard]] std::span<const int> indices() const noexcept { return index_; }
  /// The number of members of the largest domain of the world.
  [[nodiscard]] int largest() const noexcept { return largest_; }
  /// Whether the world is one domain.
  [[nodiscard]] bool only_one() const noexcept { return members_.size() == index_.size(); }

 private:
  std::vector<int> group_of_;  ///< by PE
  std::vector<int> members_;
  std::vector<int> index_;  ///< by PE
  int largest_ = 0;
};

}  // namespace pgas::detail
