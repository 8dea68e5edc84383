// Copies, copies with signals, fence and quiet, called from the host and on streams. One function implements the call
// from the host and the call on a stream.
#include "pgas/rma.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "device/list_copies.hpp"
#include "host/world/host_operation.hpp"
#include "host/world/world_state.hpp"
#include "pgas/stream_rma.hpp"

namespace pgas {

namespace detail {

namespace {

/// The numbers of bytes that a strided copy accesses before and after its first element.
struct extent {
  std::size_t before = 0;
  std::size_t after = 0;
};

/// *Errors* invalid_argument if the shape is larger than any address space.
extent extent_of(const strides& shape, std::ptrdiff_t stride, const char* what) {
  const std::size_t block = byte_count(shape.block, shape.element_bytes);
  const std::size_t step = byte_count(
      stride < 0 ? 0 - static_cast<std::size_t>(stride) : static_cast<std::size_t>(stride), shape.element_bytes);
  constexpr std::size_t huge = std::size_t{1} << 62;
  if (block > huge || (step != 0 && shape.count - 1 > huge / step))
    throw error(code::invalid_argument,
                fmt::format("{}: {} blocks {} elements apart exceed any memory", what, shape.count, stride));
  const std::size_t length = step * (shape.count - 1);
  return stride < 0 ? extent{length, block} : extent{0, length + block};
}

/// Implements both directions of a strided copy.
void copy_strided(const op_target& how, void* to, const void* from, const strides& shape, int pe, bool put) {
  const char* const what = put ? "iput" : "iget";
  host_operation s(how, what);
  s.check_pe(pe);
  if (shape.count == 0 || shape.block == 0) return;
  const extent there = extent_of(shape, put ? shape.to : shape.from, what);
  static_cast<void>(extent_of(shape, put ? shape.from : shape.to, what));
  const auto* const symmetric = static_cast<const std::byte*>(put ? to : from);
  const void* const remote =
      static_cast<std::byte*>(s.target(symmetric - there.before, there.before + there.after, 1, pe)) + there.before;
  s.check_local(put ? from : to);
  operation_request request;
  request.what = !s.proxied(pe) ? operation_request::kind::strided
                 : put          ? operation_request::kind::put
                                : operation_request::kind::get;
  request.to = put ? const_cast<void*>(remote) : to;
  request.from = put ? from : remote;
  request.bytes = shape.block * shape.element_bytes;
  request.count = shape.count;
  request.to_step = shape.to * static_cast<std::ptrdiff_t>(shape.element_bytes);
  request.from_step = shape.from * static_cast<std::ptrdiff_t>(shape.element_bytes);
  s.address(request, pe);
  s.submit(request);
  s.count(put ? operation_counter::kind::put : operation_counter::kind::get, pe, request.bytes * request.count);
  s.finish(pe);
}

/// Copies on the queue of `s`. One of the two addresses is the result of target() for PE `pe`.
/// @param last whether this is the last copy of the call
void copy(host_operation& s, void* to, const void* from, std::size_t bytes, int pe,
          operation_request::kind proxied_kind, bool last = true) {
  if (!s.proxied(pe)) return s.device().copy(to, from, bytes, s.queue());
  operation_request request;
  request.what = proxied_kind;
  request.to = to;
  request.from = from;
  request.bytes = bytes;
  request.count = 1;
  s.address(request, pe);
  request.complete = request.complete && last;
  s.submit(request);
}

}  // namespace

std::size_t byte_count(std::size_t count, std::size_t size) {
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size)
    throw error(code::invalid_argument, fmt::format("{} elements of {} bytes exceed a size_t", count, size));
  return count * size;
}

void put_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, int pe) {
  host_operation s(how, "put");
  s.check_pe(pe);
  if (bytes == 0) return;
  void* const remote = s.target(to, bytes, 1, pe);
  s.check_local(from);
  copy(s, remote, from, bytes, pe, operation_request::kind::put);
  s.count(operation_counter::kind::put, pe, bytes);
  s.finish(pe);
}

namespace {

void get_as(const char* what, const op_target& how, void* to, const void* from, std::size_t bytes, int pe) {
  host_operation s(how, what);
  s.check_pe(pe);
  if (bytes == 0) return;
  const void* const remote = s.target(from, bytes, 1, pe);
  s.check_local(to);
  copy(s, to, remote, bytes, pe, operation_request::kind::get);
  s.count(operation_counter::kind::get, pe, bytes);
  s.finish(pe);
}

}  // namespace

void get_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, int pe) {
  get_as("get", how, to, from, bytes, pe);
}
void load_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, int pe) {
  get_as("g", how, to, from, bytes, pe);
}

void put_strided(const op_target& how, void* to, const void* from, const strides& shape, int pe) {
  copy_strided(how, to, from, shape, pe, true);
}
void get_strided(const op_target& how, void* to, const void* from, const strides& shape, int pe) {
  copy_strided(how, to, from, shape, pe, false);
}

namespace {

/// Throws if an array is null. For lists of pages, also checks memory that is known before the indices are read: the
/// bases on both sides, and all pages on the symmetric side if that side has no indices.
void check_list(const host_operation& s, const copy_list& list, int pe, const char* what, bool put) {
  const auto refuse_null = [&](const void* memory, const char* role) {
    if (memory == nullptr) throw error(code::invalid_argument, fmt::format("{}: {} is null", what, role));
  };
  if (!list.has_pages()) return refuse_null(list.blocks(), "the array of blocks");
  const copy_list::side& symmetric = put ? list.to_pages() : list.from_pages();
  const copy_list::side& local = put ? list.from_pages() : list.to_pages();
  refuse_null(local.base, "the base of the pages on this PE");
  s.check_kernel_memory(local.base, "the base of the pages on this PE");
  const std::size_t last = symmetric.index != nullptr ? 0 : byte_count(list.size() - 1, symmetric.stride);
  if (last > std::numeric_limits<std::size_t>::max() - list.page_bytes())
    throw error(code::invalid_argument, fmt::format("{}: the pages exceed any memory", what));
  static_cast<void>(s.target(symmetric.base, last + list.page_bytes(), 1, pe));
}

/// Copies the blocks of a list by copy engines, to or from a direct PE. Used for large blocks.
void copy_by_engines(host_operation& s, const copy_list& list, int pe, bool put) {
  for (std::size_t i = 0; i < list.size(); ++i)  // checks all blocks before the first copy
    static_cast<void>(s.target(put ? list[i].to : list[i].from, list[i].bytes, 1, pe));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto [to, from, bytes] = list[i];
    if (put)
      s.device().copy(s.target(to, bytes, 1, pe), from, bytes, s.queue());
    else
      s.device().copy(to, s.target(from, bytes, 1, pe), bytes, s.queue());
  }
}

/// Implements both directions of the copies of a list.
void copy_blocks(const op_target& how, const copy_list& list, int pe, unsigned most_blocks, bool put) {
  const char* const what = put ? "put_list" : "get_list";
  host_operation s(how, what);
  s.check_pe(pe);
  if (list.size() == 0 || (list.has_pages() && list.page_bytes() == 0)) return;
  check_list(s, list, pe, what, put);
  const auto is_pageable = [&](const void* array) { return s.device().is_pageable(array); };
  // In a capture, the device refuses arrays in pageable memory.
  const bool captured = how.on != nullptr && has_array(list) && s.device().capturing(s.queue());
  if (!s.proxied(pe) && !captured && is_for_copy_engines(list, is_pageable)) {
    copy_by_engines(s, list, pe, put);
  } else {
    list_request request;
    request.list = list;
    request.pe = pe;
    request.put = put;
    request.most_blocks = most_blocks;
    request.proxied = s.proxied(pe);
    request.here = s.state().context();
    s.device().enqueue(request, s.queue());
  }
  s.count(put ? operation_counter::kind::put : operation_counter::kind::get, pe,
          byte_count(list.size(), list.page_bytes()));
  if (how.wait) s.state().synchronize(s.queue());
}

}  // namespace

void put_blocks(const op_target& how, const copy_list& list, int pe, unsigned most_blocks) {
  copy_blocks(how, list, pe, most_blocks, true);
}
void get_blocks(const op_target& how, const copy_list& list, int pe, unsigned most_blocks) {
  copy_blocks(how, list, pe, most_blocks, false);
}

void store_bytes(const op_target& how, void* to, const void* value, std::size_t bytes, std::size_t alignment, int pe) {
  host_operation s(how, "p");
  s.check_pe(pe);
  operation_request request;
  request.what = operation_request::kind::store;
  request.to = s.target(to, bytes, alignment, pe);
  request.bytes = bytes;
  std::memcpy(request.value, value, bytes);
  s.address(request, pe);
  s.submit(request);
  s.count(operation_counter::kind::put, pe, bytes);
  s.finish(pe);
}

void put_signal_bytes(const op_target& how, void* to, const void* from, std::size_t bytes, signal_t* signal,
                      signal_t value, signal_op op, int pe) {
  host_operation s(how, "put_signal");
  s.check_pe(pe);
  if (op != signal_op::set && op != signal_op::add)
    throw error(code::invalid_argument,
                fmt::format("put_signal: there is no signal_op {}: use set or add", static_cast<int>(op)));
  const atomic_op update{
      op == signal_op::set ? atomic_update::set : atomic_update::add, datatype::u64, signal, value, 0, true};
  using kind = operation_request::kind;
  const operation_request request = s.atomic_request(update, pe, s.proxied(pe) ? kind::signal : kind::atomic);
  if (bytes != 0) {
    void* const remote = s.target(to, bytes, 1, pe);
    s.check_local(from);
    copy(s, remote, from, bytes, pe, kind::put, false);
    s.count(operation_counter::kind::put, pe, bytes);
  }
  s.submit(request);
  s.count(update, pe);
  s.finish(pe);
}

}  // namespace detail

void fence(world& w) {
  w.state().check();
  w.state().await_host_operations();
}

void quiet(world& w) {
  const detail::op_target how = detail::blocking(w);
  detail::host_operation s(how, "quiet");
  s.state().quiet();
}

void quiet(world& w, const stream& on) {
  const detail::op_target how = detail::on_stream(w, on);
  detail::host_operation s(how, "quiet on a stream");
  detail::operation_request request;
  request.what = detail::operation_request::kind::quiet;
  request.here = s.state().context();
  s.device().enqueue(request, s.queue());
}

void fence(world& w, const stream& on) { quiet(w, on); }

}  // namespace pgas
