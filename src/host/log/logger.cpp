#include "host/log/logger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "common/output_file.hpp"
#include "common/printable.hpp"
#include "common/process_identity.hpp"
#include "pgas/error.hpp"

namespace pgas::log {
namespace {

int open_file(std::string_view pattern) {
  if (pattern.empty()) return STDERR_FILENO;
  const std::string path = detail::output_file_name(pattern);
  std::string why;
  detail::unique_fd file = detail::open_output_file(path, O_APPEND, why);
  if (!file)
    throw pgas::error(
        code::config_value,
        fmt::format("PGAS_LOG_FILE={}: can't open {} for appending: {}, or unset the variable to log to standard error",
                    pattern, path, why));
  return file.release();
}

}  // namespace

std::string_view to_string(log_level level) noexcept {
  switch (level) {
    case log_level::error: return "error";
    case log_level::warn: return "warn";
    case log_level::info: return "info";
    case log_level::debug: return "debug";
  }
  return "?";
}

logger::logger(log_level level, std::string_view file)
    : level_(level),
      descriptor_(open_file(file)),
      place_(fmt::format("{}:{}", detail::host_name(), getpid())),
      who_("pgas " + place_) {}

logger::~logger() {
  if (descriptor_ != STDERR_FILENO) close(descriptor_);
}

void logger::set_pe(int pe, int n_pes) {
  std::string who = fmt::format("pgas {}/{} {}", pe, n_pes, place_);
  const std::scoped_lock lock(mutex_);
  who_ = std::move(who);
}

void logger::write(log_level level, fmt::string_view format, fmt::format_args args) noexcept {
  if (level <= log_level::warn)
    (level == log_level::error ? errors_ : warnings_).fetch_add(1, std::memory_order_relaxed);
  if (!enabled(level)) return;
  const int callers_errno = errno;
  try {
    std::string line;
    {
      const std::scoped_lock lock(mutex_);
      line = fmt::format("[{}] {}: ", who_, to_string(level));
    }
    line += detail::printable(fmt::vformat(format, args));  // escaped: the message can contain strings of the program
    line += '\n';
    detail::write_all(descriptor_, line);
  } catch (...) {
    // Out of memory, or a formatter threw: writes a line without the text.
    detail::write_all(descriptor_, "[pgas] error: a log line could not be formatted\n");
  }
  errno = callers_errno;
}

}  // namespace pgas::log
