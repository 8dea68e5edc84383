/// @file
/// All-gather of one plain value per PE.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "host/control/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

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
