#include "host/transport/ucx/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "common/process_identity.hpp"
#include "common/thread.hpp"
#include "host/config/read_environment.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {
namespace {

/// Checks that threads can be started. UCX ends the process if it cannot start its thread ("Assertion
/// `ucs_async_thread_global_context.thread != NULL' failed"), and no setting changes that. The check starts two
/// threads, because the operating system counts a thread for a moment after its end. The value of RLIMIT_NPROC does not
/// show whether threads can be started: threads of the user's other processes count too, containers have separate
/// limits, and root has no limit.
void check_threads() {
  std::array<std::promise<void>, 2> ends;
  std::vector<std::thread> threads;
  const auto stop = [&] {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      ends[i].set_value();
      threads[i].join();
    }
  };
  try {
    for (std::promise<void>& end : ends)
      threads.push_back(start_thread("pgas-room", [&end] { end.get_future().wait(); }));
  } catch (...) {
    stop();
    throw;
  }
  stop();
}

/// Checks the file by which UCX distinguishes hosts. Without the file UCX treats the PEs of one host as PEs of several
/// hosts: UCX then finds no route between these PEs, or waits for connections that no process accepts.
void check_boot_id() {
  if (!boot_id().empty()) return;
  throw error{code::transport_failed,
              "UCX can't identify hosts and connects no PEs, because /proc/sys/kernel/random/boot_id can't be read: "
              "mount -t proc proc /proc"};
}

/// The message if /dev/shm has little space. UCX itself prints such a message on standard error only.
std::string about_shared_memory() {
  const shared_memory_room room = look_at_shared_memory();
  if (room.free >= 4 * shared_memory_of_pe) return {};
  return fmt::format(". {}. Each PE takes {} there. To get more: {}", room.found, format_bytes(shared_memory_of_pe),
                     more_shared_memory);
}

ucs_log_func_rc_t discard_log(const char*, unsigned, const char*, ucs_log_level_t, const ucs_log_component_config_t*,
                              const char*, std::va_list) {
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

ucx_worker::ucx_worker(const ucx_settings& settings)
    : library_(ucx_library::get_loaded(config_detail::environment::of_process().get("UCX_HANDLE_ERRORS").has_value())),
      why_unreachable_(detail::why_unreachable(settings)) {
  check_network(settings);
  if (settings.one_host) check_boot_id();
  check_threads();
  try {
    start_context(settings);
    start_worker(may_use_shared_memory(settings));
  } catch (...) {
    stop();
    throw;
  }
}

ucx_worker::~ucx_worker() { stop(); }

void ucx_worker::stop() noexcept {
  if (unfinished_) library_.log_push_handler(discard_log);
  if (worker_ != nullptr) library_.worker_destroy(worker_);
  if (unfinished_) library_.log_pop_handler();
  if (context_ != nullptr) library_.cleanup(context_);
}

void ucx_worker::check(ucs_status_t status, const char* what, const std::string& why) const {
  if (status == UCS_OK) return;
  throw error{
      code::transport_failed,
      fmt::format(
          "UCX {}: {}: {}{}. UCX_LOG_LEVEL=info shows details; UCX_TLS and UCX_NET_DEVICES choose other networks",
          library_.version, what, library_.status_string(status), why)};
}

void ucx_worker::start_context(const ucx_settings& settings) {
  ucp_config_t* config = nullptr;
  check(library_.config_read(nullptr, nullptr, &config), "reading its configuration");
  for (const ucx_default& each : ucx_defaults(settings))
    (void)library_.config_modify(config, each.variable + std::strlen("UCX_"), each.value.c_str());

  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.mt_workers_shared = 1;  // because other threads map memory
  wanted.name = "pgas";
  // The first arguments are the version whose functions and fields this code uses, not the version of the headers.
  const ucs_status_t status = library_.init_version(1, 13, &wanted, config, &context_);
  library_.config_release(config);
  check(status, settings.devices.empty() ? "starting" : fmt::format("starting on {}", settings.devices).c_str());

  ucp_context_attr_t known{};
  known.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  check(library_.context_query(context_, &known), "asking for memory types");
  reaches_cuda_ = (known.memory_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA)) != 0;
}

void ucx_worker::start_worker(bool uses_shared_memory) {
  ucp_worker_params_t wanted{};
  wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const ucs_status_t status = library_.worker_create(context_, &wanted, &worker_);
  check(status, "making a worker", status != UCS_OK && uses_shared_memory ? about_shared_memory() : "");
  check(library_.worker_get_efd(worker_, &event_fd_), "asking for the event descriptor");
}

blob ucx_worker::address() const {
  ucp_address_t* result = nullptr;
  std::size_t bytes = 0;
  check(library_.worker_get_address(worker_, &result, &bytes), "asking for the address");
  const auto* const first = reinterpret_cast<const std::byte*>(result);
  blob copy(first, first + bytes);
  library_.worker_release_address(worker_, result);
  return copy;
}

}  // namespace pgas::detail
