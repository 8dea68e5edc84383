// Symmetric memory, registered memory, queue pairs.
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <numeric>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/compat/nvshmem/init_memory_teams.h"
#include "pgas/compat/nvshmem/qp.h"
#include "pgas/registration.hpp"
#include "pgas/rma.hpp"

namespace pgas::compat {

namespace {

/// Memory that the program has registered for local use. Operations accept any memory, so the registrations only serve
/// to find errors.
class local_registrations {
 public:
  void add(void* address, std::size_t bytes) {
    if (address == nullptr || bytes == 0) throw error(code::invalid_argument, "the address is null or the length is 0");
    const std::lock_guard lock(mutex_);
    const auto next = ranges_.lower_bound(static_cast<std::byte*>(address));
    const bool overlaps_next = next != ranges_.end() && next->first < static_cast<std::byte*>(address) + bytes;
    const bool overlaps_previous =
        next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second > address;
    if (overlaps_next || overlaps_previous)
      throw error(code::invalid_argument,
                  fmt::format("the {1} bytes at {0} overlap registered memory", address, bytes));
    ranges_.emplace_hint(next, static_cast<std::byte*>(address), bytes);
  }
  void remove(void* address) {
    const std::lock_guard lock(mutex_);
    if (ranges_.erase(static_cast<std::byte*>(address)) == 0)
      throw error(code::invalid_argument, fmt::format("{} is not registered", address));
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    ranges_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, std::size_t> ranges_;
};

local_registrations& registered() {
  static local_registrations all;
  return all;
}

/// Allocates memory, followed by a barrier: no PE returns before all PEs have called the function, as OpenSHMEM
/// requires.
void* allocate(std::size_t count, std::size_t size, std::size_t alignment, initialize how) {
  world& w = runtime::instance().world();
  wait_for_default_stream(w);
  void* const memory = w.allocate_bytes(count, size, alignment, how);
  w.barrier_all();
  return memory;
}

/// The alignment of nvshmem_malloc and nvshmem_calloc, also for small sizes. NVIDIA's library has this alignment, and
/// programs rely on it: Kokkos refuses memory that is not aligned to 64 bytes.
constexpr std::size_t default_alignment = 512;

}  // namespace

void clear_registrations() { registered().clear(); }

#pragma GCC visibility push(default)
extern "C" {

void* nvshmem_malloc(std::size_t size) {
  return to_status("nvshmem_malloc", nullptr, [&] { return allocate(size, 1, default_alignment, initialize::no); });
}

void* nvshmem_calloc(std::size_t count, std::size_t size) {
  return to_status("nvshmem_calloc", nullptr,
                   [&] { return allocate(count, size, default_alignment, initialize::zero); });
}

void* nvshmem_align(std::size_t alignment, std::size_t size) {
  return to_status("nvshmem_align", nullptr,
                   [&] { return allocate(size, 1, alignment_of(alignment), initialize::no); });
}

void nvshmem_free(void* memory) {
  or_global_exit("nvshmem_free", [&] {
    world& w = runtime::instance().world();
    if (memory == nullptr) return;
    wait_for_default_stream(w);
    quiet(w);  // completes pending writes to other PEs; free() begins with a barrier
    w.free(memory);
  });
}

void* pgas_nvshmem_ptr(const void* local, int pe) {
  return to_status("nvshmem_ptr", nullptr, [&]() -> void* {
    runtime& here = runtime::instance();
    if (here.stage() != stage::joined) return nullptr;  // no symmetric memory before joining
    return here.world().ptr(const_cast<void*>(local), pe);
  });
}

void* pgas_nvshmem_mc_ptr(int team, const void*) {
  return to_status("nvshmemx_mc_ptr", nullptr, [&]() -> void* {
    static_cast<void>(runtime::instance().team(team));
    return nullptr;  // multicast memory is not supported
  });
}

int nvshmemx_buffer_register(void* address, std::size_t length) {
  return to_nvshmemx_status("nvshmemx_buffer_register", [&] {
    static_cast<void>(runtime::instance().world());
    registered().add(address, length);
  });
}

int nvshmemx_buffer_unregister(void* address) {
  return to_nvshmemx_status("nvshmemx_buffer_unregister", [&] { registered().remove(address); });
}

void nvshmemx_buffer_unregister_all() { registered().clear(); }

void* nvshmemx_buffer_register_symmetric(void* buffer, std::size_t size, int) {
  return to_status("nvshmemx_buffer_register_symmetric", nullptr,
                   [&] { return register_symmetric(runtime::instance().world(), buffer, size); });
}

void* nvshmemx_buffer_register_symmetric_at_preferred_address(void* buffer, std::size_t size, void* preferred, int) {
  return to_status("nvshmemx_buffer_register_symmetric_at_preferred_address", nullptr,
                   [&] { return register_symmetric(runtime::instance().world(), buffer, size, preferred); });
}

int nvshmemx_buffer_unregister_symmetric(void* mapped, std::size_t) {
  return to_nvshmemx_status("nvshmemx_buffer_unregister_symmetric",
                            [&] { unregister_symmetric(runtime::instance().world(), mapped); });
}

int nvshmemx_qp_create(int count, nvshmemx_qp_handle_t** handles) {
  return to_nvshmemx_status("nvshmemx_qp_create", [&] {
    static_cast<void>(runtime::instance().world());
    if (count < 1 || handles == nullptr)
      throw error(code::invalid_argument, fmt::format("{} queue pairs, or a null pointer to them", count));
    // All queue pairs are equal. The array is never freed, because NVSHMEM has no function for that.
    auto result = std::make_unique<nvshmemx_qp_handle_t[]>(static_cast<std::size_t>(count));
    std::iota(result.get(), result.get() + count, NVSHMEMX_QP_DEFAULT + 1);
    *handles = result.release();
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
