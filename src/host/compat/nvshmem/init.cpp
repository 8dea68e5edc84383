// Initialization and finalization, and queries of PEs.
#include <fmt/format.h>

#include <cstring>
#include <set>

#include "host/compat/nvshmem/cuda_driver.hpp"
#include "host/compat/nvshmem/device_state.hpp"
#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/compat/nvshmem/init_memory_teams.h"

namespace pgas::compat {

namespace {

constexpr int version_of(int number, std::size_t size) { return (number << 16) + static_cast<int>(size); }

/// Kernels of the program run on the GPU that the attributes name, or on the current GPU if the attributes name none.
/// The heap must be on the same GPU.
void check_device(const world& joined, int named) {
  if (joined.heap() != heap_kind::cuda || joined.device() == (named < 0 ? current_device() : named)) return;
  if (named >= 0)
    throw error(
        code::device_unavailable,
        fmt::format("PGAS_DEVICE puts the heap on GPU {}, and the attributes name GPU {}: leave one of them out",
                    joined.device(), named));
  throw error(
      code::device_unavailable,
      fmt::format("the heap is on GPU {}, which is not current: call cudaSetDevice() before the first call that "
                  "needs memory or a barrier",
                  joined.device()));
}

/// Leaves the world for a program that ends without nvshmem_finalize(). The interface requires that each PE calls
/// nvshmem_finalize().
void finalize_at_exit() {
  runtime& here = runtime::instance();
  if (here.my_pe() == 0)
    here.warn(
        "the program ends without nvshmem_finalize(), which each PE must call before it ends: the library calls it, "
        "and waits for the other PEs");
  while (!is_ending() && here.stage() != stage::none) here.stop();
}

void start(std::unique_ptr<bootstrap> exchange, int device) {
  start_request request;
  request.exchange = std::move(exchange);
  request.device = device;
  request.opening = detail::opening_text(NVSHMEM_VENDOR_STRING, {"NVSHMEM"});
  request.deferred = device < 0 && current_device() < 0;
  request.joined = [device](world& joined) {
    check_device(joined, device);
    create_member_gathering(joined);
    create_block_table(joined);
    publish_state(joined);
    leave_at_exit(finalize_at_exit);
  };
  request.leaving = [] {
    withdraw_state();
    clear_registrations();
    end_regions();
  };
  runtime::instance().start(std::move(request));
}

std::unique_ptr<bootstrap> make_uid_bootstrap(const nvshmemx_uniqueid_args_t& args) {
  if (args.id == nullptr)
    throw error(code::invalid_argument, "the unique id is null: pass the id from nvshmemx_get_uniqueid()");
  if (args.nranks < 1 || args.myrank < 0 || args.myrank >= args.nranks)
    throw error(code::invalid_argument, fmt::format("rank {} of {}: give the number of processes, and ranks from 0 on",
                                                    args.myrank, args.nranks));
  bootstrap_options options = detail::make_bootstrap_options(runtime::instance().settings());
  options.method = "tcp";
  options.unique_id.assign(args.id->internal, strnlen(args.id->internal, sizeof args.id->internal));
  options.rank = args.myrank;
  options.size = args.nranks;
  if (options.unique_id.empty())
    throw error(code::invalid_argument, "the unique id is empty: pass the id from nvshmemx_get_uniqueid()");
  return make_bootstrap(options).exchange;
}

/// The bootstrap that the flags request; null for the launcher's bootstrap.
std::unique_ptr<bootstrap> choose_bootstrap(unsigned flags, const nvshmemx_init_attr_t* attributes) {
  constexpr unsigned known =
      NVSHMEMX_INIT_THREAD_PES | NVSHMEMX_INIT_WITH_MPI_COMM | NVSHMEMX_INIT_WITH_SHMEM | NVSHMEMX_INIT_WITH_UNIQUEID;
  if ((flags & ~known) != 0)
    throw error(code::invalid_argument,
                fmt::format("unknown flags {:#x}: give one of NVSHMEMX_INIT_WITH_*, or 0", flags & ~known));
  const unsigned method = flags & ~static_cast<unsigned>(NVSHMEMX_INIT_THREAD_PES);
  if (method == 0) return nullptr;
  if (method == NVSHMEMX_INIT_WITH_SHMEM) return make_shmem_bootstrap();
  if (attributes == nullptr && (method == NVSHMEMX_INIT_WITH_MPI_COMM || method == NVSHMEMX_INIT_WITH_UNIQUEID))
    throw error(code::invalid_argument,
                "the attributes are null: the flags say that they name a communicator or a unique id");
  if (method == NVSHMEMX_INIT_WITH_MPI_COMM)
    return make_mpi_bootstrap(attributes->mpi_comm, runtime::instance().settings());
  if (method == NVSHMEMX_INIT_WITH_UNIQUEID) return make_uid_bootstrap(attributes->args.uid_args);
  throw error(code::invalid_argument, "more than one of the flags NVSHMEMX_INIT_WITH_*: give one");
}

/// The GPU that the attributes name. -1 if their versions are not set, because programs leave such attributes
/// uninitialized.
int device_of(const nvshmemx_init_attr_t* attributes) {
  if (attributes == nullptr ||
      (attributes->version != NVSHMEM_INIT_ATTR_V1_IDENTIFIER &&
       attributes->version != NVSHMEM_INIT_ATTR_V2_IDENTIFIER) ||
      attributes->args.version != NVSHMEM_INIT_ARGS_V2_IDENTIFIER)
    return -1;
  return attributes->args.cuda_device_id < 0 ? -1 : attributes->args.cuda_device_id;
}

int init_attr(const char* function, unsigned flags, const nvshmemx_init_attr_t* attributes) {
  return to_nvshmemx_status(
      function,
      [&] {
        if (runtime::instance().stage() != stage::none)
          start(nullptr, -1);  // increments the number of users; only the first initialization chooses a bootstrap
        else
          start(choose_bootstrap(flags, attributes), device_of(attributes));
      },
      log_level::error);
}

}  // namespace

int status_of(const error& cause) noexcept {
  switch (cause.code()) {
    case code::out_of_memory:
    case code::address_space: return NVSHMEMX_ERROR_OUT_OF_MEMORY;
    case code::pe_out_of_range:
    case code::outside_heap:
    case code::misaligned:
    case code::invalid_argument:
    case code::invalid_free:
    case code::config_value: return NVSHMEMX_ERROR_INVALID_VALUE;
    case code::asymmetric_call: return NVSHMEMX_ERROR_SYMMETRY;
    case code::device_unavailable: return NVSHMEMX_ERROR_GPU_NOT_SELECTED;
    case code::launch_failed: return NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
    case code::capturing:
    case code::peer_unreachable: return NVSHMEMX_ERROR_NOT_SUPPORTED;
    default: return NVSHMEMX_ERROR_INTERNAL;
  }
}

#pragma GCC visibility push(default)
extern "C" {

void nvshmem_init() {
  or_global_exit("nvshmem_init", [] { start(nullptr, -1); });
}

int nvshmem_init_thread(int requested, int* provided) {
  return to_nvshmemx_status(
      "nvshmem_init_thread",
      [&] {
        if (requested < NVSHMEM_THREAD_SINGLE || requested > NVSHMEM_THREAD_MULTIPLE || provided == nullptr)
          throw error(code::invalid_argument,
                      fmt::format("thread level {}, or a null pointer to the provided level", requested));
        start(nullptr, -1);
        *provided = NVSHMEM_THREAD_MULTIPLE;
      },
      log_level::error);
}

void nvshmem_query_thread(int* provided) { *provided = NVSHMEM_THREAD_MULTIPLE; }

int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes) {
  return init_attr("nvshmemx_init_attr", flags, attributes);
}

int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes) {
  return init_attr("nvshmemx_hostlib_init_attr", flags, attributes);
}

int nvshmemx_init_status() {
  runtime& here = runtime::instance();
  if (here.stage() == stage::none) return NVSHMEM_STATUS_NOT_INITIALIZED;
  if (here.stage() == stage::bootstrapped) return NVSHMEM_STATUS_IS_BOOTSTRAPPED;
  const world& joined = here.world();
  std::set<std::string> gpus;
  for (int pe = 0; pe < joined.n_pes(); ++pe) gpus.insert(joined.pe(pe).device_uuid);
  const bool shared = joined.heap() == heap_kind::cuda && gpus.size() < static_cast<std::size_t>(joined.n_pes());
  return shared ? NVSHMEM_STATUS_FULL_MPG : NVSHMEM_STATUS_IS_INITIALIZED;
}

void nvshmem_finalize() {
  or_global_exit("nvshmem_finalize", [] { runtime::instance().stop(); });
}

void nvshmemx_hostlib_finalize() {
  or_global_exit("nvshmemx_hostlib_finalize", [] { runtime::instance().stop(); });
}

int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uniqueid) {
  return to_nvshmemx_status("nvshmemx_get_uniqueid", [&] {
    if (uniqueid == nullptr) throw error(code::invalid_argument, "the pointer to the unique id is null");
    bootstrap_options options = detail::make_bootstrap_options(runtime::instance().settings());
    options.unique_id_length = sizeof(uniqueid->internal) - 1;
    const std::string id = make_unique_id(options);
    *uniqueid = NVSHMEMX_UNIQUEID_INITIALIZER;
    id.copy(uniqueid->internal, sizeof(uniqueid->internal) - 1);
  });
}

int nvshmemx_set_attr_uniqueid_args(const int myrank, const int nranks, const nvshmemx_uniqueid_t* uniqueid,
                                    nvshmemx_init_attr_t* attr) {
  return to_nvshmemx_status("nvshmemx_set_attr_uniqueid_args", [&] {
    if (uniqueid == nullptr || attr == nullptr)
      throw error(code::invalid_argument, "the unique id or the attributes are null");
    attr->args.uid_args = {version_of(1, sizeof(nvshmemx_uniqueid_args_t)), const_cast<nvshmemx_uniqueid_t*>(uniqueid),
                           myrank, nranks};
  });
}

int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr) {
  return to_nvshmemx_status("nvshmemx_set_attr_mpi_comm_args", [&] {
    if (mpi_comm == nullptr || attr == nullptr)
      throw error(code::invalid_argument, "the communicator or the attributes are null");
    attr->mpi_comm = mpi_comm;
  });
}

void pgas_nvshmem_global_exit(int status) { runtime::instance().global_exit("nvshmem_global_exit", status); }

int pgas_nvshmem_my_pe() {
  return or_global_exit("nvshmem_my_pe", [] { return runtime::instance().my_pe(); });
}

int pgas_nvshmem_n_pes() {
  return or_global_exit("nvshmem_n_pes", [] { return runtime::instance().n_pes(); });
}

int pgas_nvshmem_join() {
  return to_nvshmemx_status("joining", [] {
    static_cast<void>(runtime::instance().world());
    state_registry::instance().complete();
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
