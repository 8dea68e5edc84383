/// @file
/// Describes operations in words, for the report of a failure.
#pragma once

#include <string>

#include "instruction.hpp"

namespace pgas_random {

[[nodiscard]] std::string text_of(const instruction& i);

}  // namespace pgas_random
