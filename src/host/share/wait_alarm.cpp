#include "host/share/wait_alarm.hpp"

#include <fmt/format.h>

#include "host/log/logger.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// Shorter waits do not read the settings.
constexpr std::chrono::milliseconds short_wait{100};

/// The settings, or the defaults if the settings are wrong. Other code reports wrong settings.
config current_settings() {
  try {
    return config::from_environment();
  } catch (const error&) {
    return {};
  }
}

}  // namespace

bool wait_alarm::is_due() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (!began_) began_ = now;
  if (warned_ || now - *began_ < short_wait) return false;
  if (!limit_) {
    try {
      limit_ = current_settings().wait_warning;
    } catch (const std::exception&) {  // the text could not be allocated; the next call tries again
      return false;
    }
  }
  warned_ = limit_->count() == 0 || now - *began_ >= *limit_;
  return warned_ && limit_->count() != 0;
}

std::string wait_alarm::lasted() const {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - *began_).count());
}

void wait_alarm::warn(const std::string& text) noexcept {
  try {
    log::logger(current_settings()).warn("{}", text);
  } catch (const std::exception&) {  // the log file cannot be opened; the wait continues
    log::logger(log_level::warn).warn("{}", text);
  }
}

}  // namespace pgas::detail
