// One-sided operations: copies, signals, atomics, fence and quiet, called by the host or enqueued on a stream.
#include <fmt/format.h>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/rma.hpp"
#include "pgas/stream_rma.hpp"

namespace pgas::compat {

namespace {

std::size_t bytes_of(const elements& n) { return detail::byte_count(n.count, n.element_bytes); }

signal_op checked(int op) {
  if (op != NVSHMEM_SIGNAL_SET && op != NVSHMEM_SIGNAL_ADD)
    throw error(code::invalid_argument,
                fmt::format("signal operation {}: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD", op));
  return static_cast<signal_op>(op);
}

detail::strides shape_of(std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, const elements& n) {
  return {dst_stride, src_stride, 1, n.count, n.element_bytes};
}

detail::atomic_update update_of(compat::update how) {
  switch (how) {
    case compat::update::fetch: return detail::atomic_update::fetch;
    case compat::update::set: return detail::atomic_update::set;
    case compat::update::add: return detail::atomic_update::add;
    case compat::update::bit_and: return detail::atomic_update::bit_and;
    case compat::update::bit_or: return detail::atomic_update::bit_or;
    case compat::update::bit_xor: return detail::atomic_update::bit_xor;
    case compat::update::swap: return detail::atomic_update::swap;
    case compat::update::compare_swap: return detail::atomic_update::compare_swap;
  }
  throw error(code::invalid_argument, fmt::format("atomic operation {} is unknown", static_cast<int>(how)));
}

}  // namespace

detail::datatype datatype_of(compat::number type) {
  using detail::datatype;
  switch (type) {
    case compat::number::i16: return datatype::i16;
    case compat::number::u16: return datatype::u16;
    case compat::number::i32: return datatype::i32;
    case compat::number::u32: return datatype::u32;
    case compat::number::i64: return datatype::i64;
    case compat::number::u64: return datatype::u64;
    case compat::number::f16: return datatype::f16;
    case compat::number::bf16: return datatype::bf16;
    case compat::number::f32: return datatype::f32;
    case compat::number::f64: return datatype::f64;
    case compat::number::i8:
    case compat::number::u8: break;
  }
  throw error(code::invalid_argument,
              fmt::format("type {}: waits and atomics take words of 2 bytes or more", static_cast<int>(type)));
}

#pragma GCC visibility push(default)
extern "C" {

void pgas_nvshmem_put(when when, void* dst, const void* src, elements n, int pe) {
  return or_global_exit(when.function, [&] { detail::put_bytes(host_call(when).target(), dst, src, bytes_of(n), pe); });
}

void pgas_nvshmem_get(when when, void* dst, const void* src, elements n, int pe) {
  return or_global_exit(when.function, [&] { detail::get_bytes(host_call(when).target(), dst, src, bytes_of(n), pe); });
}

void pgas_nvshmem_iput(when when, void* dst, const void* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                       elements n, int pe) {
  return or_global_exit(when.function, [&] {
    detail::put_strided(host_call(when).target(), dst, src, shape_of(dst_stride, src_stride, n), pe);
  });
}

void pgas_nvshmem_iget(when when, void* dst, const void* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                       elements n, int pe) {
  return or_global_exit(when.function, [&] {
    detail::get_strided(host_call(when).target(), dst, src, shape_of(dst_stride, src_stride, n), pe);
  });
}

void pgas_nvshmem_p(when when, void* dst, const void* value, std::size_t bytes, int pe) {
  return or_global_exit(when.function, [&] {
    const std::size_t alignment = bytes > 8 ? 8 : bytes;
    detail::store_bytes(host_call(when).target(), dst, value, bytes, alignment, pe);
  });
}

void pgas_nvshmem_g(when when, void* value, const void* src, std::size_t bytes, int pe) {
  return or_global_exit(when.function, [&] {
    host_call here(when);
    detail::load_bytes(here.target(), value, src, bytes, pe);
    if (here.on() != nullptr) here.on()->synchronize();  // blocks, because the function returns the value
  });
}

void pgas_nvshmem_put_signal(when when, void* dst, const void* src, elements n, std::uint64_t* signal,
                             std::uint64_t value, int op, int pe) {
  return or_global_exit(when.function, [&] {
    detail::put_signal_bytes(host_call(when).target(), dst, src, bytes_of(n), signal, value, checked(op), pe);
  });
}

void pgas_nvshmem_signal_op(when when, std::uint64_t* signal, std::uint64_t value, int op, int pe) {
  return or_global_exit(when.function, [&] {
    const auto how = checked(op) == signal_op::set ? detail::atomic_update::set : detail::atomic_update::add;
    const detail::atomic_op update{how, detail::datatype::u64, signal, value, 0, true};
    host_call here(when);
    if (here.on() != nullptr)
      detail::enqueue_update(here.target(), update, nullptr, pe);
    else
      static_cast<void>(detail::fetch_update(here.world(), update, pe));
  });
}

std::uint64_t pgas_nvshmem_signal_fetch(const std::uint64_t* signal) {
  return or_global_exit("nvshmem_signal_fetch", [&] { return signal_fetch(runtime::instance().world(), signal); });
}

void pgas_nvshmem_signal_reset(std::uint64_t* signal) {
  return or_global_exit("nvshmemx_signal_counted_reset", [&] {
    world& w = runtime::instance().world();
    static_cast<void>(
        detail::fetch_update(w, {detail::atomic_update::set, detail::datatype::u64, signal, 0, 0, true}, w.my_pe()));
  });
}

std::uint64_t pgas_nvshmem_atomic(compat::update how, compat::number type, const void* target, std::uint64_t value,
                                  std::uint64_t condition, int pe, const char* function) {
  return or_global_exit(function, [&] {
    return detail::fetch_update(runtime::instance().world(),
                                {update_of(how), datatype_of(type), target, value, condition}, pe);
  });
}

void pgas_nvshmem_fence() {
  return or_global_exit("nvshmem_fence", [&] { fence(runtime::instance().world()); });
}

void pgas_nvshmem_quiet(when when) {
  return or_global_exit(when.function, [&] {
    host_call here(when);
    if (here.on() != nullptr)
      quiet(here.world(), *here.on());
    else
      quiet(here.world());
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
