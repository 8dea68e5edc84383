/// @file
/// pgas::error. The text of an error starts with the code, so that the reader of a log line can find the code in
/// docs/errors.md. The text is escaped, because parts of it come from the environment, from file names or from other
/// processes. error_table.cpp has the table of the codes with causes and remedies.
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
