#include <fmt/format.h>

#include <array>
#include <optional>

#include "bootstrap/error_messages.hpp"
#include "bootstrap/join_methods.hpp"
#include "common/struct_members.hpp"
#include "common/unique_fd.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas {
namespace boot {
namespace {

[[nodiscard]] std::unique_ptr<bootstrap> singleton(const bootstrap_options& options) {
  return std::move(make_thread_bootstraps(1, options.timeout).front());
}

void need_rank_and_size(const bootstrap_options& options, std::string_view source, std::string_view variables) {
  if (options.rank < 0 && options.size < 0)
    throw error{code::bootstrap_unavailable,
                fmt::format("{} is set, but the rank of this process and the number of processes are not: set {}",
                            source, variables)};
  check_rank_and_size(options.rank, options.size, source);
}

[[nodiscard]] chosen_bootstrap by_launcher(const bootstrap_options& options) {
  need_rank_and_size(options, "pgasrun's socket", "PGAS_RANK and PGAS_SIZE, as pgasrun does");
  return {join_pgasrun(options), fmt::format("pgasrun, rank {} of {}", options.rank, options.size)};
}

[[nodiscard]] chosen_bootstrap by_tcp(const bootstrap_options& options) {
  const bool with_id = !options.unique_id.empty();
  const std::string how =
      with_id ? "TCP with a unique id" : fmt::format("TCP at {}:{}", options.master_address, options.master_port);
  need_rank_and_size(options, how, "RANK and WORLD_SIZE");
  if (options.size == 1) {
    if (with_id) close_unused(options.unique_id);
    return {singleton(options), fmt::format("{}, rank 0 of 1, no connections", how)};
  }
  return {join_tcp(options), fmt::format("{}, rank {} of {}", how, options.rank, options.size)};
}

[[nodiscard]] chosen_bootstrap by_pmix(const bootstrap_options& options) {
  std::string version;
  auto exchange = join_pmix(options, version);
  const int rank = exchange->rank();
  const int size = exchange->size();
  return {std::move(exchange), fmt::format("{}, rank {} of {}", version, rank, size)};
}

/// The variables that a complete address needs and that are missing; an empty string if none is missing.
[[nodiscard]] std::string missing_for_address(const bootstrap_options& options) {
  std::string missing;
  const auto need = [&missing](bool given, std::string_view name) {
    if (!given) missing += (missing.empty() ? "" : ", ") + std::string{name};
  };
  need(!options.master_address.empty(), "MASTER_ADDR");
  need(options.master_port >= 0, "MASTER_PORT");
  need(options.rank >= 0, "RANK");
  need(options.size >= 0, "WORLD_SIZE");
  return missing;
}

[[nodiscard]] chosen_bootstrap automatic(const bootstrap_options& options) {
  if (options.local_fd >= 0) return by_launcher(options);
  if (!options.unique_id.empty()) return by_tcp(options);
  std::string passed_over;  // the methods that were present but could not be used
  if (options.pmix_launcher) {
    try {
      return by_pmix(options);
    } catch (const error& e) {
      if (e.code() != code::bootstrap_unavailable) throw;
      passed_over = fmt::format("; PMIx was passed over: {}", e.what());
    }
  }
  const std::string missing = missing_for_address(options);
  if (missing.empty()) {
    chosen_bootstrap chosen = by_tcp(options);
    chosen.description += passed_over;
    return chosen;
  }
  // If the launcher's job cannot be joined, this is an error. Otherwise each process would join a world of one PE.
  if (options.pmix_launcher)
    throw error{code::bootstrap_unavailable,
                fmt::format("this process was started by a launcher that speaks PMIx, but could not join through it{}. "
                            "Give a unique id or MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE instead, or set "
                            "PGAS_BOOTSTRAP=singleton",
                            passed_over)};
  if (!options.master_address.empty()) passed_over = fmt::format("; MASTER_ADDR is set, but not {}", missing);
  return {singleton(options),
          "singleton, rank 0 of 1: no pgasrun, unique id, PMIx server or MASTER_ADDR" + passed_over};
}

/// Makes the bootstrap that the options name.
chosen_bootstrap by_method(const bootstrap_options& options) {
  detail::fill_standard_descriptors();
  if (options.timeout <= std::chrono::milliseconds{0})
    throw error{code::invalid_argument, "the time limit for joining must be positive; set PGAS_JOIN_TIMEOUT"};
  if (options.method == "auto") return automatic(options);
  if (options.method == "singleton" || options.method == "alone")  // "alone" is the former name of singleton
    return {singleton(options), "singleton, rank 0 of 1, as requested"};
  if (options.method == "pmix") return by_pmix(options);
  if (options.method == "local") {
    if (options.local_fd < 0)
      throw error{code::bootstrap_unavailable,
                  "the bootstrap 'local' needs PGAS_LOCAL_FD, which pgasrun sets: start with `pgasrun -n N program`"};
    return by_launcher(options);
  }
  if (options.method == "tcp") {
    if (options.unique_id.empty())
      if (const std::string missing = missing_for_address(options); !missing.empty())
        throw error{
            code::bootstrap_unavailable,
            fmt::format("the bootstrap 'tcp' needs a unique id with rank and size, or MASTER_ADDR, MASTER_PORT, "
                        "RANK and WORLD_SIZE; not set: {}",
                        missing)};
    return by_tcp(options);
  }
  throw error{code::bootstrap_unavailable,
              fmt::format("there is no bootstrap '{}'; choose auto, pmix, tcp, local or singleton", options.method)};
}

}  // namespace
}  // namespace boot

void detail::choose_bootstrap(const given<bootstrap_options>& options, const wanted<chosen_bootstrap>& chosen) {
  fill(chosen, boot::by_method(taken(options)));
}

}  // namespace pgas
