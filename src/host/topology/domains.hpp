/// @file
/// Domains: the PEs that reach one another's memory by load and store.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/control/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The PEs of a world in domains. Each PE numbers the members of its own domain in PE order: these numbers are the
/// slots of its layout. Other members are direct peers, PEs of other domains are proxied peers.
class domains {
 public:
  /// @param group_of a number for each PE, the same for those of a domain
  domains(int me, const std::vector<int>& group_of);

  /// The members of this PE's domain, in ascending order.
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  /// Whether PE `pe` is a direct peer or this PE.
  [[nodiscard]] bool direct(int pe) const noexcept { return index(pe) >= 0; }
  /// The number of PE `pe` among the members, -1 for a proxied peer.
  [[nodiscard]] int index(int pe) const noexcept { return index_[static_cast<std::size_t>(pe)]; }
  /// The domain's number of each PE.
  [[nodiscard]] std::span<const int> numbers() const noexcept { return group_of_; }
  /// index() of all PEs.
  [[nodiscard]] std::span<const int> indices() const noexcept { return index_; }
  /// Members of the largest domain of the world.
  [[nodiscard]] int largest() const noexcept { return largest_; }
  /// Whether the world is one domain.
  [[nodiscard]] bool only_one() const noexcept { return members_.size() == index_.size(); }

 private:
  std::vector<int> group_of_;  ///< by PE
  std::vector<int> members_;
  std::vector<int> index_;  ///< by PE
  int largest_ = 0;
};

/// The sets of PGAS_P2P for `n` PEs: for each PE the number of its set, whose members may share memory. `all`: one
/// set. Lists such as `0,2/1,3`: a PE that no list names is in a set of its own. *Errors* config_value.
/// @param of_job whether the `n` PEs are the whole job: then larger numbers are errors. Worlds of some PEs of a job,
/// and processes alone, ignore them
[[nodiscard]] std::vector<int> parse_p2p_sets(const std::string& direct, int n, bool of_job = false);

/// Collective: the sets of parse_p2p_sets(). *Errors* config_value, the same on all PEs, also where the setting
/// differs.
[[nodiscard]] std::vector<int> agree_on_p2p_sets(const control_group& everyone, const std::string& direct);

}  // namespace pgas::detail
