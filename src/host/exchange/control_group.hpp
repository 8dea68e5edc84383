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

#include "host/connect/control_message.hpp"
#include "host/connect/peer_table.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

class exchange_service;

/// A group of PEs, which numbers its members from 0 to n_pes() - 1. Messages go along the tree of the control plane.
/// Groups are independent: different threads may call collectives of different groups concurrently. *Callers* one
/// thread at a time for each group.
class control_group {
 public:
  /// The number of a group. It is unique in the world if new_identity() has returned it.
  using identity = std::uint64_t;
  /// The identities of the groups that every world has. new_identity() returns larger values.
  static constexpr identity world = 0;
  static constexpr identity domain = 1;
  static constexpr identity host = 2;

  /// Makes the group of `members`, which are world numbers and include this PE. The call is not collective, but all
  /// members must make the group with the same arguments. A member may use the group before other members have made it.
  control_group(const control_group& among, identity id, std::vector<int> members);
  /// Removes the group. No member may be in a collective of the group, or call one later.
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

  /// Collective: returns the bytes of all members, by member. A member contributes 0 to 64 KiB, and lengths can differ.
  /// For each other member on the caller's host, the result also contains that member's file descriptors, duplicated
  /// for the caller. The caller's own entry has bytes and no descriptors. *Errors* peer_lost; aborted; wait_timeout
  /// with the missing members if PGAS_WAIT_TIMEOUT is set; asymmetric_call if a member calls barrier() or
  /// control_plane::leave(); invalid_argument before any data is sent.
  [[nodiscard]] std::vector<contribution> all_gather(std::span<const std::byte> mine,
                                                     std::span<const int> fds = {}) const;
  /// A function that receives the bytes and the descriptors of one member. `bytes` is valid only during the call.
  /// `descriptors` contains no bytes.
  using part_handler = std::function<void(int member, std::span<const std::byte> bytes, contribution descriptors)>;
  /// As all_gather(), but without a copy of the bytes of each member: passes the bytes to `take`. The order of the
  /// members is not specified; it is the same on all members.
  void gather_each(std::span<const std::byte> mine, std::span<const int> fds, const part_handler& take) const;
  /// Collective: combines the values of all members. All members get the same result. `combine` receives two values,
  /// and its result must not depend on their order. A value crosses each link of the tree once. *Errors* those of
  /// all_gather().
  [[nodiscard]] blob reduce(blob mine, std::function<void(blob& all, std::span<const std::byte> more)> combine) const;
  /// As reduce(), but a member does not always receive the whole result. The member receives at least the part that its
  /// value asks for. `select` returns the part that a combined value asks for.
  using part_selector = std::function<blob(std::span<const std::byte> all, std::span<const std::byte> values)>;
  [[nodiscard]] blob reduce(blob mine, std::function<void(blob& all, std::span<const std::byte> more)> combine,
                            part_selector select) const;
  /// Collective: returns when all members have called barrier().
  void barrier() const;

  /// Makes `count` consecutive identities for new groups, and returns the first. One PE makes the identities, and all
  /// members use them. *Callers* any thread.
  [[nodiscard]] identity new_identity(std::uint64_t count = 1) const;

  /// Counts a collective of the group that this PE has enqueued on its device. The program may launch a captured
  /// collective any number of times, so the count is unknown after a capture. *Callers* any thread.
  void count_enqueued(bool captured) const;

 protected:
  control_group(const std::shared_ptr<exchange_service>& exchanges, identity id, std::vector<int> members);
  [[nodiscard]] exchange_service& exchanges() const;

 private:
  friend class device_collective;
  std::weak_ptr<exchange_service> exchanges_;  ///< expired after this PE has left the world
  const identity id_;
  const std::vector<int> members_;
  int me_ = -1;
};

/// Collective: returns the values of all members, by member. *Errors* those of control_group::all_gather();
/// bootstrap_protocol if the value of a PE has another size.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> gather_value(const control_group& group, const T& mine) {
  std::vector<T> values(static_cast<std::size_t>(group.n_pes()));
  group.gather_each(std::as_bytes(std::span(&mine, 1)), {},
                    [&](int member, std::span<const std::byte> bytes, const contribution&) {
                      if (bytes.size() != sizeof(T))
                        throw error(code::bootstrap_protocol,
                                    fmt::format("PE {} takes part in another exchange than PE {}",
                                                group.world_pe(member), group.world_pe(group.my_pe())),
                                    group.world_pe(member));
                      std::memcpy(&values[static_cast<std::size_t>(member)], bytes.data(), sizeof(T));
                    });
  return values;
}

}  // namespace pgas::detail
