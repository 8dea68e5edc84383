/// @file
/// Which PEs reach one another's memory by load and store.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/control/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The PEs of a world in groups, the domains. Each PE numbers the members of its own domain, in PE order: those numbers
/// are slots of its layout.
class domains {
 public:
  /// @param group_of a number for each PE, the same for those of a domain
  domains(int me, const std::vector<int>& group_of);

  /// The members of this PE's domain, in ascending order.
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  /// Whether PE `pe` is one of them.
  [[nodiscard]] bool near(int pe) const noexcept { return index(pe) >= 0; }
  /// Its number among them, -1 if it is none.
  [[nodiscard]] int index(int pe) const noexcept { return index_[static_cast<std::size_t>(pe)]; }
  /// For each PE a number that those of its domain have, and no others.
  [[nodiscard]] std::span<const int> numbers() const noexcept { return group_of_; }
  /// index() of all PEs.
  [[nodiscard]] std::span<const int> indices() const noexcept { return index_; }
  /// Members of the largest domain of the world.
  [[nodiscard]] int largest() const noexcept { return largest_; }
  /// Whether there is only one.
  [[nodiscard]] bool only_one() const noexcept { return members_.size() == index_.size(); }

 private:
  std::vector<int> group_of_;  ///< by PE
  std::vector<int> members_;
  std::vector<int> index_;  ///< by PE
  int largest_ = 0;
};

/// What PGAS_P2P says of `n` PEs: for each the set that it is in, the same number for those that may share memory.
/// `all`: one set. Lists such as `0,2/1,3`: PEs that no list names are alone. *Errors* config_value.
/// @param of_job whether these are all PEs that the setting is for: then others are errors too. Worlds of some PEs of a
/// job, and processes alone, pass them over
[[nodiscard]] std::vector<int> parse_p2p_sets(const std::string& direct, int n, bool of_job = false);

/// Collective: the sets of parse_p2p_sets(). *Errors* config_value, the same on all PEs, also where the setting
/// differs.
[[nodiscard]] std::vector<int> agree_on_direct(const control_group& everyone, const std::string& direct);

}  // namespace pgas::detail
