/// @file
/// What every transport refuses in the same words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgas::detail {

/// *Errors* transport_failed unless `pe` is one of `n_pes` and `bytes` are at most `most`.
void check_message(int pe, int n_pes, std::size_t bytes, std::size_t most);

/// *Errors* transport_failed unless [offset, offset + bytes) is inside the `exposed` bytes of `pe`.
void check_range(int pe, std::uint64_t offset, std::uint64_t bytes, std::uint64_t exposed);

}  // namespace pgas::detail
