/// @file
/// Sizes with units, for messages.
#pragma once

#include <cstddef>
#include <string>

namespace pgas::detail {

/// "512 bytes", "1.5 MiB", "80.0 GiB".
[[nodiscard]] std::string format_bytes(std::size_t bytes);

}  // namespace pgas::detail
