/// @file
/// What PEs tell one another around each step of the heap, and what they conclude from it: the same on every PE,
/// because everyone draws it from the same statements.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The call that a PE is carrying out.
struct collective_step {
  enum class kind : std::uint32_t {
    allocate = 1,
    grow = 2,
    free = 3,
    probe = 4,
    add_team = 5,
    adopt = 6,
    disown = 7,
    connect = 8
  };
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  kind what = kind::allocate;
  std::uint32_t zeros = 0;  ///< the memory is to be cleared, which takes a meeting more
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint64_t offset = nowhere;
  bool operator==(const collective_step&) const = default;
};
static_assert(sizeof(collective_step) == 32);

/// One PE's word on a step: what it is doing, what went wrong, what it hands out.
struct step_result {
  collective_step call;
  std::optional<error> failure;
  exported_handle handle;
  blob key;               ///< for PEs that reach the segment by the proxy; empty where only messages get there
  bool fds_lost = false;  ///< a descriptor was sent and could not be received
  int pe = -1;            ///< whose it is, as the world counts
};

/// Collective: everyone's statements, by member; a descriptor in `mine` is duplicated to the others and stays here too.
[[nodiscard]] std::vector<step_result> exchange(const control_group& group, const step_result& mine);

/// The failure of the first member that has one.
[[nodiscard]] std::optional<error> first_failure(const std::vector<step_result>& all);
/// asymmetric_call naming the first member whose call is not that of member 0, and both calls.
[[nodiscard]] std::optional<error> asymmetry(const std::vector<step_result>& all);

/// Carries out a step of this PE and gives what went wrong, in the words "PE 1 (host a) could not <what>: <why>".
[[nodiscard]] std::optional<error> attempt(const control_group& group, const std::string& what,
                                           const std::function<void()>& step);

}  // namespace pgas::detail
