#include "host/failure/world_failure.hpp"

#include <fmt/format.h>

#include <exception>

namespace pgas::detail {

void world_failure::set(const error& cause, log_level level) noexcept {
  state before = state::open;
  if (!now_.compare_exchange_strong(before, state::failed)) return;
  cause_ = cause;
  try {
    if (on_failure_) on_failure_(cause);
  } catch (const std::exception& why) {
    log_.warn("while telling of a failure: {}", why.what());
  }
  at_ = clock::now();
  told_.store(true, std::memory_order_release);
  const char* const text = cause.what();
  log_.write(level, "{}", fmt::make_format_args(text));
  try {
    spread_(cause);
  } catch (const std::exception& why) {
    log_.warn("while telling the other PEs of a failure: {}", why.what());
  }
}

void world_failure::close() noexcept {
  state before = state::open;
  static_cast<void>(now_.compare_exchange_strong(before, state::closed));
}

}  // namespace pgas::detail
