#include "host/failure/world_failure.hpp"

#include <fmt/format.h>

#include <exception>

namespace pgas::detail {

void world_failure::set(const error& cause, log_level level) noexcept {
  {
    const std::lock_guard one_at_a_time(setting_);
    state before = state::open;
    if (!now_.compare_exchange_strong(before, state::failed)) return;
    cause_ = cause;
    try {
      if (steps_.tell_peers) steps_.tell_peers(cause);
    } catch (const std::exception& why) {
      log_.warn("while telling the other PEs of a failure: {}", why.what());
    }
    try {
      if (steps_.on_failure) steps_.on_failure(cause);
    } catch (const std::exception& why) {
      log_.warn("while telling of a failure: {}", why.what());
    }
    at_ = clock::now();
    told_.store(true, std::memory_order_release);
  }
  const char* const text = cause.what();
  log_.write(level, "{}", fmt::make_format_args(text));
  if (steps_.wake) steps_.wake();
}

void world_failure::check() const {
  if (!is_set()) return;
  { const std::lock_guard until_it_is_told(setting_); }
  throw error(cause_);
}

void world_failure::close() noexcept {
  state before = state::open;
  static_cast<void>(now_.compare_exchange_strong(before, state::closed));
}

}  // namespace pgas::detail
