/// @file
/// Which memory the CPU can reach.
#pragma once

namespace pgas::detail {

/// Whether the CPU can read the byte at `address`: not so for memory of a GPU. UCX without CUDA's part takes that for
/// the CPU's, and the process would die at the first access.
[[nodiscard]] bool cpu_can_read(const void* address);

}  // namespace pgas::detail
