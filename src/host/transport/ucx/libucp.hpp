/// @file
/// Loads libucp at run time. The same binary runs with UCX 1.13 and newer, and without UCX. Only functions of UCX 1.13
/// are loaded.
#pragma once

#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include <string>

namespace pgas::detail {

struct ucx_library {
  decltype(&ucp_config_read) config_read;
  decltype(&ucp_config_modify) config_modify;
  decltype(&ucp_config_release) config_release;
  decltype(&ucp_init_version) init_version;
  decltype(&ucp_cleanup) cleanup;
  decltype(&ucp_context_query) context_query;
  decltype(&ucp_worker_create) worker_create;
  decltype(&ucp_worker_destroy) worker_destroy;
  decltype(&ucp_worker_get_address) worker_get_address;
  decltype(&ucp_worker_release_address) worker_release_address;
  decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&ucp_worker_progress) worker_progress;
  decltype(&ucp_worker_get_efd) worker_get_efd;
  decltype(&ucp_worker_arm) worker_arm;
  decltype(&ucp_ep_create) ep_create;
  decltype(&ucp_ep_close_nbx) ep_close_nbx;
  decltype(&ucp_ep_flush_nbx) ep_flush_nbx;
  decltype(&ucp_ep_print_info) ep_print_info;
  decltype(&ucp_am_send_nbx) am_send_nbx;
  decltype(&ucp_am_data_release) am_data_release;
  decltype(&ucp_put_nbx) put_nbx;
  decltype(&ucp_get_nbx) get_nbx;
  decltype(&ucp_mem_map) mem_map;
  decltype(&ucp_mem_unmap) mem_unmap;
  decltype(&ucp_mem_query) mem_query;
  decltype(&ucp_rkey_pack) rkey_pack;
  decltype(&ucp_rkey_buffer_release) rkey_buffer_release;
  decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack;
  decltype(&ucp_rkey_destroy) rkey_destroy;
  decltype(&ucp_request_check_status) request_check_status;
  decltype(&ucp_request_free) request_free;
  decltype(&ucs_status_string) status_string;
  decltype(&ucs_log_push_handler) log_push_handler;
  decltype(&ucs_log_pop_handler) log_pop_handler;
  std::string version;  ///< "1.13.1"

  /// Loads the library at the first call and never unloads it, because the library's threads and hooks can outlive any
  /// world.
  /// @param keep_signals whether UCX may install its handlers of SIGSEGV and other signals
  /// *Errors* code::transport_failed with the loader's reason or the version found.
  [[nodiscard]] static const ucx_library& get_loaded(bool keep_signals);
};

}  // namespace pgas::detail
