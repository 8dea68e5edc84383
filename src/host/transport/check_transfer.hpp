/// @file
/// Checks of the arguments of transfers. All transports use them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "pgas/error.hpp"

namespace pgas::detail {

/// *Errors* transport_failed unless `pe` is one of `n_pes` PEs and `bytes` is at most `most`.
inline void check_message(int pe, int n_pes, std::size_t bytes, std::size_t most) {
  if (pe < 0 || pe >= n_pes)
    throw error{code::transport_failed, fmt::format("a message to PE {} in a job of {} PEs", pe, n_pes), pe};
  if (bytes > most)
    throw error{code::transport_failed,
                fmt::format("a message of {} bytes to PE {}: the limit is {} bytes", bytes, pe, most), pe};
}

/// *Errors* transport_failed unless [offset, offset + bytes) is inside the `exposed` bytes of `pe`.
inline void check_range(int pe, std::uint64_t offset, std::uint64_t bytes, std::uint64_t exposed) {
  if (offset > exposed || bytes > exposed - offset)
    throw error{
        code::transport_failed,
        fmt::format("{} bytes at offset {} are not inside the {} bytes that PE {} exposes", bytes, offset, exposed, pe),
        pe};
}

}  // namespace pgas::detail
