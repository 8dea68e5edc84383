/// @file
/// One step of a collective host call. Each member sends its arguments and its failure. All members reach the same
/// conclusion, because they receive the same results. *Callers* the heap, the probe, the proxy's set-up and teams.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/exchange/agreement.hpp"
#include "host/exchange/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The call of a PE and its arguments, which members compare.
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
  std::uint32_t zeros = 0;  ///< whether the memory is cleared, which needs another barrier
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint64_t offset = nowhere;
  bool operator==(const collective_step&) const = default;
};
static_assert(sizeof(collective_step) == 32);

/// The result of a step on one PE: the call, the failure, and the exported handle and key.
struct step_result {
  collective_step call;
  std::optional<error> failure;
  exported_handle handle;
  blob key;               ///< the key for proxied PEs; empty if only messages can access the segment
  bool fds_lost = false;  ///< a descriptor was sent, but was not received
  int pe = -1;            ///< the world number of the PE
};

/// Collective: returns the results of all members, by member. Other members receive a duplicate of the descriptor in
/// `mine`. The descriptor itself stays open.
[[nodiscard]] std::vector<step_result> exchange(const control_group& group, const step_result& mine);

/// The conclusion of all members from a step that exports no handle and no key.
struct step_agreement {
  std::optional<error> failure;    ///< the failure of the first member that has failed
  std::optional<error> mismatch;   ///< the error that find_mismatch() describes
  std::vector<member_word> words;  ///< the words that members have added
};

/// Collective: compares the calls of all members in one reduction.
[[nodiscard]] step_agreement agree_on_step(const control_group& group, const collective_step& call,
                                           const std::optional<error>& failure,
                                           std::span<const std::uint64_t> words = {});

/// The failure of the first member that has failed.
[[nodiscard]] std::optional<error> first_failure(const std::vector<step_result>& all);
/// The error asymmetric_call if a call differs from the call of member 0. Its text names the first such member and both
/// calls.
[[nodiscard]] std::optional<error> find_mismatch(const std::vector<step_result>& all);
/// Throws the first failure; without a failure, the mismatch. Returns if all members agree and none has failed.
void check_step(const std::vector<step_result>& all);
void check_step(const step_agreement& all);

/// Runs a local step. Returns a failure of the step with the text "PE 1 (host a) could not <what>: <why>".
[[nodiscard]] std::optional<error> attempt(const control_group& group, const std::string& what,
                                           const std::function<void()>& step);

}  // namespace pgas::detail
