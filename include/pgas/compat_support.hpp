/// @file
/// For libraries that offer another interface over pgas, such as libpgas_shmem and libnvshmem_host. Programs have no
/// use for it.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::log {
class logger;
}

namespace pgas::detail {

/// Options for make_bootstrap() from the settings and the launcher's variables, as world::join() uses them.
/// *Errors* config_value where a variable of the launcher is no number in its range.
[[nodiscard]] PGAS_API bootstrap_options make_bootstrap_options(const config& settings);

/// The text that a program prints as it starts: the version where PREFIX_VERSION is set, the options where PREFIX_INFO
/// is, of the first prefix that is set; else empty. @param interface its name and version, such as "OpenSHMEM 1.5".
/// *Errors* config_value.
[[nodiscard]] PGAS_API std::string opening_text(std::string_view interface,
                                                std::initializer_list<std::string_view> prefixes);

/// A text that is the same in all processes of this host, and differs between hosts.
[[nodiscard]] PGAS_API std::string host_identity(const config& settings);

/// Writes lines as the library's own log does. *Callers* any thread.
class PGAS_API interface_log {
 public:
  /// Warnings and errors, to standard error.
  interface_log();
  /// As the settings say. *Errors* config_value where the file cannot be opened.
  explicit interface_log(const config& settings);
  ~interface_log();
  interface_log(const interface_log&) = delete;
  interface_log& operator=(const interface_log&) = delete;

  /// From now on lines carry `pe/n_pes`.
  void set_pe(int pe, int n_pes);
  void write(log_level level, std::string_view text) noexcept;

 private:
  std::unique_ptr<log::logger> log_;
};

}  // namespace pgas::detail
