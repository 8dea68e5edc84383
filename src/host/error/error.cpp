/// @file
/// pgas::error, whose text starts with the code so that a pasted log line can be looked up in docs/errors.md. The text
/// is escaped: parts of it come from the environment, from file names or from other processes. The table of the codes,
/// with cause and remedy, is in error_table.cpp.
#include "pgas/error.hpp"

#include <string>

#include "common/printable.hpp"

namespace pgas {

std::string to_string(pgas::code c) {
  std::string digits = std::to_string(static_cast<int>(c));
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return "PGAS-E" + digits;
}

error::error(pgas::code code, std::string_view message, int pe)
    : std::runtime_error((to_string(code) + ": ").append(detail::printable(message))), code_(code), pe_(pe) {}
error::error(const error& other) noexcept = default;
error::error(error&& other) noexcept = default;
error& error::operator=(const error& other) noexcept = default;
error& error::operator=(error&& other) noexcept = default;
error::~error() = default;

}  // namespace pgas
