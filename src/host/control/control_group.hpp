/// @file
/// Groups of PEs that exchange small messages independently of each other.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/unique_fd.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

struct control_plane_state;

/// The process of a PE.
struct peer_info {
  std::string host;
  int pid = 0;
  int host_index = 0;              ///< of its host, numbered by first PE
  int local_rank = 0;              ///< among the PEs of its host, in PE order
  bool pid_is_valid_here = false;  ///< it is a process of this host, and this process knows it by the same number
};

/// One PE's contribution to an all-gather.
struct contribution {
  blob bytes;
  std::vector<unique_fd> fds;
  bool fds_lost =
      false;  ///< descriptors were sent, but this process may open no more files; those received were closed again
};

/// Members in an order of their own, numbered 0 to n_pes() - 1, over the tree of the control plane. Groups are
/// independent: their collectives may be called concurrently from different threads. *Callers* one thread at a time for
/// each group.
class control_group {
 public:
  /// A number that no other group of the world will have, unless the PEs give it to one.
  using identity = std::uint64_t;
  /// Identities of the groups that every world has; those of new_identity() lie above.
  static constexpr identity world = 0;
  static constexpr identity domain = 1;
  static constexpr identity host = 2;

  /// The group of `members`, as the world numbers them, among which this PE is. Not a collective, but all members must
  /// make it with the same arguments; each may use it at once.
  control_group(const control_group& among, identity id, std::vector<int> members);
  /// Removes the group. No member may be in one of its collectives then, or call another.
  virtual ~control_group();
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;

  [[nodiscard]] identity id() const noexcept { return id_; }
  [[nodiscard]] int my_pe() const noexcept { return me_; }
  [[nodiscard]] int n_pes() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] int world_pe(int member) const noexcept { return members_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  /// *Errors* pe_out_of_range.
  [[nodiscard]] const peer_info& peer(int member) const;

  /// Collective: everyone's bytes (0 to 64 KiB, lengths may differ), by member, and duplicates of the descriptors of
  /// those on the caller's host. The caller's own entry holds its bytes and no descriptors. *Errors* peer_lost,
  /// aborted; wait_timeout naming who is missing when PGAS_WAIT_TIMEOUT is set; asymmetric_call when a member calls
  /// barrier() or control_plane::leave(); invalid_argument before anything is sent.
  [[nodiscard]] std::vector<contribution> all_gather(std::span<const std::byte> mine,
                                                     std::span<const int> fds = {}) const;
  /// Collective: the values of all members, combined, the same on every member. `combine` is called with two values in
  /// an order that it must not depend on. A value crosses each link of the tree once. *Errors* those of all_gather().
  [[nodiscard]] blob reduce(blob mine, std::function<void(blob& all, std::span<const std::byte> more)> combine) const;
  /// Collective: returns when every member has called it.
  void barrier() const;

  /// An identity for a new group: one PE makes it, and all members use it. *Callers* any thread.
  [[nodiscard]] identity new_identity() const;

  /// Counts a collective of the group that this PE has enqueued on its device. The program launches a captured one by
  /// itself, any number of times: from then on the number is unknown. *Callers* any thread.
  void count_enqueued(bool captured) const;

 protected:
  control_group(const std::shared_ptr<control_plane_state>& state, identity id, std::vector<int> members);
  [[nodiscard]] control_plane_state& state() const;

 private:
  friend class device_collective;
  std::weak_ptr<control_plane_state> state_;  ///< gone once the world was left
  const identity id_;
  const std::vector<int> members_;
  int me_ = -1;
};

/// The values of all members, in order. *Callers* collective. *Errors* those of control_group::all_gather;
/// bootstrap_protocol when the value of a PE has another size.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> gather_value(const control_group& group, const T& mine) {
  const std::vector<contribution> all = group.all_gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> values(all.size());
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    if (all[pe].bytes.size() != sizeof(T))
      throw error(code::bootstrap_protocol,
                  fmt::format("PE {} takes part in another exchange than PE {}", group.world_pe(static_cast<int>(pe)),
                              group.world_pe(group.my_pe())),
                  group.world_pe(static_cast<int>(pe)));
    std::memcpy(&values[pe], all[pe].bytes.data(), sizeof(T));
  }
  return values;
}

}  // namespace pgas::detail
