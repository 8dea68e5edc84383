/// @file
/// What a bootstrap has to tell the user about the world that was joined. Bootstraps do not log: the library asks.
#pragma once

#include <string>

namespace pgas::detail {

/// A base of bootstraps that may have something to tell.
class join_warning {
 public:
  join_warning() = default;
  virtual ~join_warning() = default;
  join_warning(const join_warning&) = delete;
  join_warning& operator=(const join_warning&) = delete;

  /// What the user has to know, with the remedy; empty where there is nothing.
  [[nodiscard]] virtual std::string warning() const = 0;
};

/// The warning of a bootstrap; empty for those that have none.
template <class Bootstrap>
[[nodiscard]] std::string warning_of(const Bootstrap& joined) {
  const auto* const told = dynamic_cast<const join_warning*>(&joined);
  return told == nullptr ? std::string() : told->warning();
}

}  // namespace pgas::detail
