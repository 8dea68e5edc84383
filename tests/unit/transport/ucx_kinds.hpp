/// @file
/// The kinds of UCX transport in the tests. In one kind UCX chooses the transports, and in the second kind UCX uses
/// TCP.
#pragma once

#include <cstdlib>

#include "host/log/logger.hpp"
#include "host/transport/ucx/ucx_settings.hpp"
#include "test_pe.hpp"

namespace pgas_test {

/// Sets environment variables of UCX during its lifetime.
class ucx_variables {
 public:
  explicit ucx_variables(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~ucx_variables() {
    for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
  }
  ucx_variables(const ucx_variables&) = delete;
  ucx_variables& operator=(const ucx_variables&) = delete;

 private:
  const std::map<std::string, std::string> variables_;
};

[[nodiscard]] inline pgas::log::logger& ucx_log() {
  static pgas::log::logger log(pgas::log_level::warn);
  return log;
}

[[nodiscard]] inline std::unique_ptr<transport> make_ucx(int pe) {
  return pgas::detail::make_ucx_transport({.pe = pe, .log = &ucx_log()});
}

[[nodiscard]] inline transport_kind ucx_kind(const std::string& name, const std::map<std::string, std::string>& set) {
  return {name, [set](int n) {
            const ucx_variables in_force(set);
            std::vector<std::unique_ptr<transport>> result;
            for (int pe = 0; pe < n; ++pe) result.push_back(make_ucx(pe));
            return result;
          }};
}

[[nodiscard]] inline transport_kind ucx_by_default() { return ucx_kind("ucx", {}); }
[[nodiscard]] inline transport_kind ucx_over_tcp() {
  return ucx_kind("ucx_tcp", {{"UCX_TLS", "tcp,self"}, {"UCX_NET_DEVICES", "lo"}});
}
[[nodiscard]] inline std::vector<transport_kind> ucx_kinds() { return {ucx_by_default(), ucx_over_tcp()}; }

}  // namespace pgas_test
