/// @file
/// Helpers for tests of the control plane: short settings, and a log whose lines can be read.
#pragma once

#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code_of.hpp"
#include "host/exchange/control_plane.hpp"
#include "scratch_folder.hpp"
#include "unit/connect/pes.hpp"

namespace pgas::unit_test {

inline std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::size_t count_with(const std::vector<std::string>& lines, std::string_view text) {
  std::size_t count = 0;
  for (const std::string& line : lines) count += line.find(text) != std::string::npos ? 1u : 0u;
  return count;
}

inline config quick() {
  config settings;
  settings.join_timeout = std::chrono::seconds(20);
  settings.wait_timeout = std::chrono::seconds(20);  // a test that hangs fails with the names of the missing PEs
  return settings;
}

inline blob bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::string text_of(const blob& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}

using pgas_test::thrown_by;

/// Whether `text` is part of the message of `failure`.
inline bool says(const std::optional<error>& failure, const std::string& text) {
  return failure && std::string(failure->what()).find(text) != std::string::npos;
}

/// A control plane with settings and a quiet log of its own.
struct joined_pe {
  explicit joined_pe(bootstrap& exchange, const config& settings = quick(),
                     detail::control_plane::failure_callback callback = {})
      : log(settings.log_file.empty() ? log_level::error : log_level::debug,
            settings.log_file.empty() ? "/dev/null" : settings.log_file),
        control_plane(exchange, settings, log, std::move(callback)) {
    control_plane.joined();
  }
  log::logger log;
  detail::control_plane control_plane;
};

}  // namespace pgas::unit_test
