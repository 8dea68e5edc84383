/// @file
/// The operations of single threads on proxied PEs: p, g, atomics, fence and quiet as commands. Used by the public
/// headers, which document the operations. All functions end the thread if the proxy does not answer.
#pragma once

#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/detail/isa/ptx_opaque.hpp"
#include "pgas/device/impl/copy/copy.hpp"
#include "pgas/device/impl/proxy/proxy_submit.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"

namespace pgas::detail {

/// The bits of a value in the form that a command carries.
template <class T>
[[nodiscard]] PGAS_FN payload payload_of(const T& value) {
  static_assert(sizeof(T) <= sizeof(payload));
  payload all{};
  copy_bytes(&all, &value, sizeof(T));
  return all;
}

/// Packs `bytes` bytes at any address into a payload, or unpacks them. `bytes` is at most the size of a payload.
[[nodiscard]] PGAS_FN payload pack_payload(const std::byte* src, std::size_t bytes) {
  payload all{};
  PGAS_ROLLED
  for (std::size_t i = bytes; i > 0; --i) {
    all.word[1] = all.word[1] << 8 | all.word[0] >> 56;
    all.word[0] = all.word[0] << 8 | load_weak<1>(src + i - 1);
  }
  return all;
}
PGAS_FN void unpack_payload(std::byte* to, payload all, std::size_t bytes) {
  PGAS_ROLLED
  for (std::size_t i = 0; i < bytes; ++i) {
    store_weak<1>(to + i, static_cast<std::uint8_t>(all.word[0]));
    all.word[0] = all.word[0] >> 8 | all.word[1] << 56;
    all.word[1] >>= 8;
  }
}

/// Writes `bytes` bytes, at most the payload of one command. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool put_inline_value(proxy_queue queue, const op_info& about, const payload& value,
                                            std::uint32_t bytes) {
  command_call call(queue, about, command_kind::put_value, bytes);
  call.value[0] = value.word[0];
  call.value[1] = value.word[1];
  return submit(&call);
}

/// A copy whose data is inline in commands and answers. The struct is in the local memory of its thread.
struct inline_copy {
  command_call call;
  std::byte* local;  ///< memory of this PE; puts do not write this memory
  std::size_t bytes;
  std::uint32_t step;  ///< bytes to this thread's next piece

  /// The number of bytes of the next piece.
  [[nodiscard]] PGAS_FN std::uint32_t piece() const {
    return bytes < sizeof(payload) ? static_cast<std::uint32_t>(bytes) : static_cast<std::uint32_t>(sizeof(payload));
  }
};

/// Copies one thread's share of `bytes` bytes at any local address. A get is complete on return. @return False if a
/// wait failed and the thread must end.
template <direction Direction>
[[nodiscard]] PGAS_FN bool copy_inline(proxy_queue queue, const op_info& about, std::byte* local, std::size_t bytes,
                                       slice me) {
  constexpr bool put = Direction == direction::put;
  constexpr std::uint32_t piece = sizeof(payload);
  inline_copy all{command_call(queue, about, put ? command_kind::put_value : command_kind::get_value, 0), local, bytes,
                  me.rank * piece};
  all.call.answered = !put;
  const std::uint32_t next = me.size * piece;
  inline_copy* const left = opaque(&all);
  PGAS_ROLLED
  while (left->step < left->bytes) {
    left->call.offset[0] += left->step;
    left->local += left->step;
    left->bytes -= left->step;
    left->call.bytes[0] = left->piece();
    if constexpr (put) {
      const payload packed = pack_payload(left->local, left->piece());
      left->call.value[0] = packed.word[0];
      left->call.value[1] = packed.word[1];
    }
    if (!submit(&left->call)) return false;
    if constexpr (!put) unpack_payload(left->local, payload{{left->call.value[0], left->call.value[1]}}, left->piece());
    left->step = next;
  }
  return true;
}

/// Calls copy_inline() out of line, for puts and for gets.
[[nodiscard]] PGAS_COLD bool put_inline(proxy_queue queue, op_info about, const void* src, std::size_t bytes,
                                        slice me) {
  return copy_inline<direction::put>(queue, about, static_cast<std::byte*>(const_cast<void*>(src)), bytes, me);
}
[[nodiscard]] PGAS_COLD bool get_inline(proxy_queue queue, op_info about, void* dst, std::size_t bytes, slice me) {
  return copy_inline<direction::get>(queue, about, static_cast<std::byte*>(dst), bytes, me);
}

/// Like put_inline_value(), but ends the thread on failure.
PGAS_FN void proxied_store(proxy_queue queue, const op_info& about, const payload& value, std::uint32_t bytes) {
  if (!put_inline_value(queue, about, value, bytes)) end_thread();
}
/// Reads `bytes` bytes, at most the payload of one command.
[[nodiscard]] PGAS_FN payload proxied_load(proxy_queue queue, const op_info& about, std::uint32_t bytes) {
  command_call call(queue, about, command_kind::get_value, bytes);
  call.answered = true;
  if (!submit(&call)) end_thread();
  return {{call.value[0], call.value[1]}};
}

/// Implements p() and g() for any type.
template <class T>
PGAS_FN void proxied_p(proxy_queue queue, std::int32_t pe, std::uint64_t offset, const T& value) {
  if constexpr (sizeof(T) <= sizeof(payload)) {
    proxied_store(queue, {operation::p, pe, offset}, payload_of(value), sizeof(T));
  } else {
    const T copy = value;
    if (!put_inline(queue, {operation::p, pe, offset}, &copy, sizeof(T), slice{0, 1})) end_thread();
  }
}
template <class T>
[[nodiscard]] PGAS_FN T proxied_g(proxy_queue queue, std::int32_t pe, std::uint64_t offset) {
  if constexpr (sizeof(T) <= sizeof(payload)) {
    struct prefix {
      std::byte at[sizeof(T)];
    };
    const payload got = proxied_load(queue, {operation::g, pe, offset}, sizeof(T));
    prefix bytes;
    copy_bytes(&bytes, &got, sizeof(T));
    return bits_as<T>(bytes);
  } else {
    struct whole {
      std::byte at[sizeof(T)];
    } bytes;
    if (!get_inline(queue, {operation::g, pe, offset}, &bytes, sizeof(T), slice{0, 1})) end_thread();
    return bits_as<T>(bytes);
  }
}

/// An atomic operation without a result.
PGAS_FN void proxied_update(proxy_queue queue, const op_info& about, atomic_update update, datatype as,
                            std::uint64_t value) {
  command_call call(queue, about, command_kind::atomic, size_of(as));
  call.set(update, as);
  call.value[0] = value;
  if (!submit(&call)) end_thread();
}

/// An atomic operation. @return The bits of the old value.
[[nodiscard]] PGAS_FN std::uint64_t proxied_fetch(proxy_queue queue, const op_info& about, atomic_update update,
                                                  datatype as, std::uint64_t value, std::uint64_t condition) {
  command_call call(queue, about, command_kind::atomic, size_of(as));
  call.set(update, as);
  call.answered = true;
  call.value[0] = value;
  call.value[1] = condition;
  if (!submit(&call)) end_thread();
  return call.value[0];
}

/// Orders later commands to PE `pe` after earlier commands.
PGAS_FN void proxied_fence(proxy_queue queue, std::int32_t pe) {
  command_call call(queue, {operation::fence, pe, 0}, command_kind::fence, 0);
  if (!submit(&call)) end_thread();
}

/// Like drain(), but ends the thread on failure. This function and the next one are out of line, because worlds without
/// a proxy never execute these functions.
PGAS_COLD void drain_or_end(proxy_queue queue, operation what, std::int32_t pe) {
  if (!drain(queue, what, pe)) end_thread();
}

/// Like drain(), for the commands of all threads of a group. *Callers* all threads of the group.
template <PGAS_IS(group) G>
PGAS_COLD void drain_by_leader(proxy_queue queue, G g, operation what, std::int32_t pe) {
  g.sync();
  exit_unless_leader(g, g.thread_rank() == 0 && drain(queue, what, pe));
}

/// Waits for this PE's commands to all PEs. Completed proxied operations come before later operations by any route.
PGAS_FN void quiet_proxied(const context& ctx, operation what) {
  if (ctx.has_proxied()) PGAS_UNLIKELY
    drain_or_end(proxy_queue_of(ctx), what, -1);
}
/// Like quiet_proxied(), for the commands of a group's threads.
template <PGAS_IS(group) G>
PGAS_FN void quiet_proxied(const context& ctx, const G& g, operation what) {
  if (ctx.has_proxied()) PGAS_UNLIKELY
    drain_by_leader(proxy_queue_of(ctx), g, what, -1);
}

}  // namespace pgas::detail
