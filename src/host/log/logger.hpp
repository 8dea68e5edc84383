/// @file
/// The library's log: one line for each event, with the PE, the host and the process. A line is written by one system
/// call.
///
///     [pgas 2/4 node17:4711] warn: PGAS_HEEP is not an option; did you mean PGAS_HEAP?
///
/// Each world owns a logger; there is no global logger. The function that decides on an error logs it. Callers of that
/// function do not log it again.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "pgas/config.hpp"

namespace pgas::log {

/// Writes lines of at least a given level to standard error or a file.
///
/// *Callers* any thread at any time, also after set_pe(). Writing never throws. Writing blocks only in write(2).
class logger {
 public:
  /// @param file empty: standard error. Otherwise a path in which `%h` stands for the host, `%p` for the process and
  /// `%%` for a percent sign; lines are appended.
  /// *Errors* code::config_value if the file cannot be opened.
  explicit logger(log_level level, std::string_view file = {});
  /// Takes level and file from the configuration.
  explicit logger(const config& settings) : logger(settings.log, settings.log_file) {}
  ~logger();
  logger(const logger&) = delete;
  logger& operator=(const logger&) = delete;

  /// Adds `pe/n_pes` to later lines.
  void set_pe(int pe, int n_pes);

  /// Whether a line of this level would be written. Used before a message that is costly to format.
  [[nodiscard]] bool enabled(log_level level) const noexcept { return level <= level_; }

  /// A failure that the program will notice.
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::error, format, fmt::make_format_args(args...));
  }
  /// A probable mistake of the user. The job continues.
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::warn, format, fmt::make_format_args(args...));
  }
  /// A decision, a few per world, such as the bootstrap, the heap, or the GPU.
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::info, format, fmt::make_format_args(args...));
  }
  /// Single steps, for debugging.
  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::debug, format, fmt::make_format_args(args...));
  }

  /// Takes the level as a parameter. Formats a line only if the line is written.
  void write(log_level level, fmt::string_view format, fmt::format_args args) noexcept;

  /// The number of lines of this level so far; the level is error or warn. Lines that PGAS_LOG suppresses also count.
  [[nodiscard]] std::uint64_t count(log_level level) const noexcept {
    return (level == log_level::error ? errors_ : warnings_).load(std::memory_order_relaxed);
  }

 private:
  const log_level level_;
  int descriptor_;
  const std::string place_;  ///< "host:process"
  std::mutex mutex_;         ///< guards who_
  std::string who_;          ///< "pgas host:process" or "pgas 2/4 host:process"
  std::atomic<std::uint64_t> errors_{0};
  std::atomic<std::uint64_t> warnings_{0};
};

/// The name of a level, as in PGAS_LOG and in log lines.
[[nodiscard]] std::string_view to_string(log_level level) noexcept;

}  // namespace pgas::log
