#include "host/transport/ucx/libucp.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::detail {
namespace {

constexpr unsigned oldest_minor = 13;

[[nodiscard]] error unavailable(std::string_view what) {
  return {code::transport_failed,
          fmt::format("UCX is not usable: {}. Install libucx0 1.{} or newer, or add its folder to LD_LIBRARY_PATH",
                      what, oldest_minor)};
}

[[nodiscard]] void* open_library(const char* name) {
  if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* reason = ::dlerror();
  throw unavailable(reason != nullptr ? reason : name);
}

template <class Function>
void look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr) throw unavailable(fmt::format("the library that was found has no {}", name));
}

[[nodiscard]] std::string version_of(void* handle) {
  decltype(&ucp_get_version) get_version{};
  look_up(handle, "ucp_get_version", get_version);
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  get_version(&major, &minor, &release);
  if (major != UCP_API_MAJOR || minor < oldest_minor)
    throw unavailable(fmt::format("version {}.{}.{} was found", major, minor, release));
  return fmt::format("{}.{}.{}", major, minor, release);
}

[[nodiscard]] ucx_library load(bool keep_signals) {
  // If another part of the program has loaded UCX, that part can need UCX's signal handlers.
  void* const loaded_before = ::dlopen("libucs.so.0", RTLD_NOW | RTLD_NOLOAD);
  void* const ucp = open_library("libucp.so.0");
  void* const ucs = open_library("libucs.so.0");
  ucx_library library{};
  library.version = version_of(ucp);
  look_up(ucp, "ucp_config_read", library.config_read);
  look_up(ucp, "ucp_config_modify", library.config_modify);
  look_up(ucp, "ucp_config_release", library.config_release);
  look_up(ucp, "ucp_init_version", library.init_version);
  look_up(ucp, "ucp_cleanup", library.cleanup);
  look_up(ucp, "ucp_context_query", library.context_query);
  look_up(ucp, "ucp_worker_create", library.worker_create);
  look_up(ucp, "ucp_worker_destroy", library.worker_destroy);
  look_up(ucp, "ucp_worker_get_address", library.worker_get_address);
  look_up(ucp, "ucp_worker_release_address", library.worker_release_address);
  look_up(ucp, "ucp_worker_set_am_recv_handler", library.worker_set_am_recv_handler);
  look_up(ucp, "ucp_worker_progress", library.worker_progress);
  look_up(ucp, "ucp_worker_get_efd", library.worker_get_efd);
  look_up(ucp, "ucp_worker_arm", library.worker_arm);
  look_up(ucp, "ucp_ep_create", library.ep_create);
  look_up(ucp, "ucp_ep_close_nbx", library.ep_close_nbx);
  look_up(ucp, "ucp_ep_flush_nbx", library.ep_flush_nbx);
  look_up(ucp, "ucp_ep_print_info", library.ep_print_info);
  look_up(ucp, "ucp_am_send_nbx", library.am_send_nbx);
  look_up(ucp, "ucp_am_data_release", library.am_data_release);
  look_up(ucp, "ucp_put_nbx", library.put_nbx);
  look_up(ucp, "ucp_get_nbx", library.get_nbx);
  look_up(ucp, "ucp_mem_map", library.mem_map);
  look_up(ucp, "ucp_mem_unmap", library.mem_unmap);
  look_up(ucp, "ucp_mem_query", library.mem_query);
  look_up(ucp, "ucp_rkey_pack", library.rkey_pack);
  look_up(ucp, "ucp_rkey_buffer_release", library.rkey_buffer_release);
  look_up(ucp, "ucp_ep_rkey_unpack", library.ep_rkey_unpack);
  look_up(ucp, "ucp_rkey_destroy", library.rkey_destroy);
  look_up(ucp, "ucp_request_check_status", library.request_check_status);
  look_up(ucp, "ucp_request_free", library.request_free);
  look_up(ucs, "ucs_status_string", library.status_string);
  look_up(ucs, "ucs_log_push_handler", library.log_push_handler);
  look_up(ucs, "ucs_log_pop_handler", library.log_pop_handler);
  if (!keep_signals && loaded_before == nullptr) {
    // Some versions of UCX do not have this function. Without it, UCX prints a backtrace before the program dies of a
    // signal.
    if (const auto disable = reinterpret_cast<void (*)()>(::dlsym(ucs, "ucs_debug_disable_signals"))) disable();
  }
  return library;
}

}  // namespace

const ucx_library& ucx_library::get_loaded(bool keep_signals) {
  static const ucx_library library = load(keep_signals);
  return library;
}

}  // namespace pgas::detail
