/// @file
/// How much memory the machine has, and how much of it this process may still use.
#pragma once

#include <cstddef>

namespace pgas::detail {

/// Of the machine, in bytes.
[[nodiscard]] std::size_t physical_memory() noexcept;
/// What could be used now: the least of what the kernel calls available, what the control group leaves, and, where the
/// kernel does not overcommit, what it would still promise.
[[nodiscard]] std::size_t available_memory();
/// Whether the kernel refuses to promise more than it has (vm.overcommit_memory=2).
[[nodiscard]] bool strict_overcommit();

}  // namespace pgas::detail
