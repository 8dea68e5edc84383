#include "common/system_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "pgas/error.hpp"

namespace pgas::detail {

std::string errno_text(int number) { return std::generic_category().message(number); }

void throw_system(std::string_view what, int number) {
  throw error(code::system, fmt::format("{}: {}", what, errno_text(number)));
}

void throw_system(std::string_view what) { throw_system(what, errno); }

}  // namespace pgas::detail
