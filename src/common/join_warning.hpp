/// @file
/// A warning of a bootstrap about the world that the bootstrap has joined. A bootstrap has no log, and the public
/// interface of bootstraps has five functions. Therefore the library gets the warning through this second interface,
/// and logs it.
#pragma once

#include <string>

namespace pgas::detail {

/// The second base class of bootstraps that can return a warning.
class join_warning {
 public:
  join_warning() = default;
  virtual ~join_warning() = default;
  join_warning(const join_warning&) = delete;
  join_warning& operator=(const join_warning&) = delete;

  /// The problem and its remedy; empty if there is no problem.
  [[nodiscard]] virtual std::string warning() const = 0;
};

/// The warning of a bootstrap; empty if it has no warning.
template <class Bootstrap>
[[nodiscard]] std::string warning_of(const Bootstrap& joined) {
  const auto* const told = dynamic_cast<const join_warning*>(&joined);
  return told == nullptr ? std::string() : told->warning();
}

}  // namespace pgas::detail
