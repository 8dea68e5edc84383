/// @file
/// The library's log: one line per event, written whole, each naming the PE, the host and the process.
///
///     [pgas 2/4 node17:4711] warn: PGAS_HEEP is not an option; did you mean PGAS_HEAP?
///
/// Each world owns a logger; there is no global logger. The function that decides on an error logs it, its callers do
/// not.
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
/// *Callers* any thread at any time, after set_pe() too. Writing never throws and blocks in write(2) only.
class logger {
 public:
  /// @param file empty: standard error; otherwise a path in which `%h` stands for the host, `%p` for the process and
  /// `%%` for a percent sign; lines are appended. *Errors* code::config_value where the file cannot be opened.
  explicit logger(log_level level, std::string_view file = {});
  /// With level and file of the configuration.
  explicit logger(const config& settings) : logger(settings.log, settings.log_file) {}
  ~logger();
  logger(const logger&) = delete;
  logger& operator=(const logger&) = delete;

  /// Adds `pe/n_pes` to later lines.
  void set_pe(int pe, int n_pes);

  /// Whether a line of this level would be written; for messages that are costly to format.
  [[nodiscard]] bool enabled(log_level level) const noexcept { return level <= level_; }

  /// A failure that the program will notice.
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::error, format, fmt::make_format_args(args...));
  }
  /// A probable mistake of the user; the job goes on.
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::warn, format, fmt::make_format_args(args...));
  }
  /// A decision, a few per world: which bootstrap, which heap, which GPU.
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::info, format, fmt::make_format_args(args...));
  }
  /// Single steps, for the search of a defect.
  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) noexcept {
    write(log_level::debug, format, fmt::make_format_args(args...));
  }

  /// The level as a parameter; formats only a line that is written.
  void write(log_level level, fmt::string_view format, fmt::format_args args) noexcept;

  /// The number of lines of this level, error or warn, so far. Lines that PGAS_LOG leaves out count, too.
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

/// The spelling of PGAS_LOG and of log lines.
[[nodiscard]] std::string_view to_string(log_level level) noexcept;

}  // namespace pgas::log
