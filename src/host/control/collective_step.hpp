/// @file
/// One step of a collective host call: each member tells its arguments and its failure, and all members draw the same
/// conclusion from the same results. *Callers* the heap, the probe, the proxy's set-up and teams.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/control/agreement.hpp"
#include "host/control/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The call of a PE and its arguments; members compare them.
struct collective_step {
  enum class kind : std::uint32_t {
    allocate = 1,
    grow = 2,
    free = 3,
    probe = 4,
    add_team = 5,
    add_buffer = 6,
    remove_buffer = 7,
    connect = 8,
    collect = 9
  };
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  kind what = kind::allocate;
  std::uint32_t zeros = 0;  ///< the memory is to be cleared, which takes one more barrier
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint64_t offset = nowhere;
  bool operator==(const collective_step&) const = default;
};
static_assert(sizeof(collective_step) == 32);

/// The result of a step on one PE: its call, its failure, and the handle and key that it exports.
struct step_result {
  collective_step call;
  std::optional<error> failure;
  exported_handle handle;
  blob key;               ///< for PEs that reach the segment by the proxy; empty where only messages get there
  bool fds_lost = false;  ///< a descriptor was sent and could not be received
  int pe = -1;            ///< the world's number of the PE
};

/// Collective: the results of all members, by member. A descriptor in `mine` is duplicated to the others and stays open
/// here.
[[nodiscard]] std::vector<step_result> exchange(const control_group& group, const step_result& mine);

/// The conclusion of all members from a step that exports no handle and no key.
struct step_agreement {
  std::optional<error> failure;    ///< of the first member that has one
  std::optional<error> mismatch;   ///< as of find_mismatch()
  std::vector<member_word> words;  ///< that members have added
};

/// Collective: compares the calls of all members, by one reduction.
[[nodiscard]] step_agreement agree_on_step(const control_group& group, const collective_step& call,
                                           const std::optional<error>& failure,
                                           std::span<const std::uint64_t> words = {});

/// The failure of the first member that has one.
[[nodiscard]] std::optional<error> first_failure(const std::vector<step_result>& all);
/// asymmetric_call naming the first member whose call differs from that of member 0, and both calls.
[[nodiscard]] std::optional<error> find_mismatch(const std::vector<step_result>& all);
/// Throws the failure, then the mismatch, if there is one.
void check_step(const std::vector<step_result>& all);
void check_step(const step_agreement& all);

/// Runs a local step and returns its failure as "PE 1 (host a) could not <what>: <why>".
[[nodiscard]] std::optional<error> attempt(const control_group& group, const std::string& what,
                                           const std::function<void()>& step);

}  // namespace pgas::detail
