/// @file
/// put(), get(), put_signal() and strided copies for proxied PEs. Used by `device/rma.hpp`, `signal.hpp`, `strided.hpp`
/// and the collectives. One thread of a group submits a command for the proxy; short data is inline in the command.
///
/// * The release of the submitting thread also orders the accesses of the other threads, because the caller has
///   synchronized the group.
/// * The proxy accesses global memory only. Data in a thread's stack, data in a block's shared memory and short data
///   are inline in commands, which the threads of the group divide among themselves.
#pragma once

#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/detail/isa/ptx_opaque.hpp"
#include "pgas/device/impl/proxy/proxied_words.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The time at which an operation returns: when its commands are submitted, or when the proxy has also read the local
/// source or written the local destination.
enum class completion { submitted, local_done };

/// A signal after a copy.
struct trailing_signal {
  const signal_t* at;
  signal_t value;
  signal_op op;
};

/// Blocks at regular distances, in bytes.
struct strided_range {
  std::size_t bytes;  ///< bytes of a block
  std::size_t count;  ///< number of blocks
  std::ptrdiff_t local_step;
  std::ptrdiff_t remote_step;
};

/// The range of `count` blocks of `block` elements, with strides in elements.
template <class T>
[[nodiscard]] PGAS_FN strided_range strided_range_of(std::size_t block, std::size_t count, std::ptrdiff_t local_stride,
                                                     std::ptrdiff_t remote_stride) {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  return {block * sizeof(T), count, local_stride * size, remote_stride * size};
}

/// A strided copy. The struct is in the local memory of its thread. The functions change the struct in memory, so their
/// loops keep nothing in registers.
struct proxied_blocks {
  proxy_queue queue;
  op_info about;
  std::byte* local;
  strided_range shape;
  completion when;

  /// Skips `blocks` blocks.
  PGAS_FN void skip(std::size_t blocks) {
    about.offset += static_cast<std::uint64_t>(shape.remote_step) * blocks;
    local += shape.local_step * static_cast<std::ptrdiff_t>(blocks);
    shape.count -= blocks;
  }
};

/// Submits a copy of the kind `kind`. A strided copy copies all blocks, of less than 4 GiB each; any other copy copies
/// the first block only. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_COLD bool submit_copy(const proxied_blocks* all, command_kind kind) {
  const bool strided = kind == command_kind::put_strided || kind == command_kind::get_strided;
  const std::uint64_t bytes = all->shape.bytes;
  command_call call(all->queue, all->about, kind, strided ? bytes * all->shape.count : bytes);
  call.answered = all->when == completion::local_done;
  call.bytes[1] |= bytes << 32;
  call.offset[1] = reinterpret_cast<std::uintptr_t>(all->local);
  call.value[0] = static_cast<std::uint64_t>(all->shape.local_step);
  call.value[1] = static_cast<std::uint64_t>(all->shape.remote_step);
  return submit(&call);
}

/// Submits blocks of any number and size. @return False if a wait failed and the thread must end.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool submit_blocks(proxied_blocks* all) {
  constexpr bool put = Direction == direction::put;
  if (all->shape.count != 1 && all->shape.bytes >> 32 == 0)
    return submit_copy(all, put ? command_kind::put_strided : command_kind::get_strided);
  PGAS_ROLLED
  for (; all->shape.count != 0; all->skip(1)) {
    if (!submit_copy(all, put ? command_kind::put : command_kind::get)) return false;
  }
  return true;
}

/// Submits a put with a trailing signal. `kind` selects the data: `bytes` bytes at the address `local`, the value
/// `local` itself, or no data. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool submit_signal(proxy_queue queue, const op_info& about, command_kind kind,
                                         std::uint64_t local, std::size_t bytes, const trailing_signal& signal,
                                         completion when) {
  command_call call(queue, about, kind, bytes);
  call.set(signal.op == signal_op::add ? atomic_update::add : atomic_update::set, datatype::u64);
  call.answered = when == completion::local_done && kind == command_kind::put_signal;
  call.offset[1] = local;
  call.value[0] = signal.value;
  call.value[1] = queue.offset(signal.at);
  return submit(&call);
}

/// Ends the group, or the thread, if a submission failed. If the caller waits for completion, the group's threads first
/// synchronize.
template <PGAS_IS(group) G>
PGAS_FN void exit_if_lost(const G& g, bool lost, completion when) {
  if (when == completion::local_done) {
    exit_if_any(g, lost);
  } else if (lost) {
    end_thread();
  }
}

/// The arguments of a proxied copy by a group.
struct proxied_copy {
  proxy_queue queue;
  std::int32_t pe;     ///< number of the PE in the world
  const void* remote;  ///< remote memory by its address on this PE
  const void* local;   ///< memory of this PE; gets write this memory despite const
  std::size_t bytes;
  completion when;
};

/// Submits a put with a signal, by the smallest command that can carry data and signal. Submits the signal alone if the
/// data has already been sent.
/// @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_COLD bool submit_put_signal(const proxied_copy* call, const trailing_signal* signal,
                                               bool data_is_sent) {
  const op_info about{operation::put_signal, call->pe, call->queue.offset(call->remote)};
  const std::size_t bytes = data_is_sent ? 0 : call->bytes;
  auto kind = command_kind::put_signal;
  auto local = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(call->local));
  if (bytes == 0) {
    kind = command_kind::signal;
  } else if (bytes <= sizeof(std::uint64_t)) {
    kind = command_kind::put_value_signal;
    local = pack_payload(static_cast<const std::byte*>(call->local), bytes).word[0];
  }
  return submit_signal(call->queue, about, kind, local, bytes, *signal, call->when);
}

/// Whether the data of a copy is inline in commands and answers.
[[nodiscard]] PGAS_FN bool is_inline(const proxied_copy* call) {
  return call->bytes <= sizeof(payload) || !is_global(call->local);
}

/// Submits a whole copy as one command. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool submit_whole(const proxied_copy* call, operation what, command_kind kind) {
  const proxied_blocks all{call->queue,
                           {what, call->pe, call->queue.offset(call->remote)},
                           static_cast<std::byte*>(const_cast<void*>(call->local)),
                           {call->bytes, 1, 0, 0},
                           call->when};
  return submit_copy(&all, kind);
}

/// Implements put() and put_nbi(). *Callers* all threads of the group.
template <PGAS_IS(group) G>
PGAS_COLD void proxied_put(const proxied_copy* call, G g) {
  bool lost = false;
  if (is_inline(call)) {
    lost = !put_inline(call->queue, {operation::put, call->pe, call->queue.offset(call->remote)}, call->local,
                       call->bytes, slice_of(g));
  } else if (g.thread_rank() == 0) {
    lost = !submit_whole(call, operation::put, command_kind::put);
  }
  exit_if_lost(g, lost, call->when);
}

/// Implements get() and get_nbi(). *Callers* all threads of the group.
template <PGAS_IS(group) G>
PGAS_COLD void proxied_get(const proxied_copy* call, G g) {
  bool lost = false;
  if (is_inline(call)) {
    lost = !get_inline(call->queue, {operation::get, call->pe, call->queue.offset(call->remote)},
                       const_cast<void*>(call->local), call->bytes, slice_of(g));
  } else if (g.thread_rank() == 0) {
    lost = !submit_whole(call, operation::get, command_kind::get);
  }
  exit_if_lost(g, lost, call->when);
}

/// One thread's share of strided copies of memory that the proxy can't access. @return False if a wait failed and the
/// thread must end.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool copy_strided_inline(proxied_blocks* all, slice me) {
  std::uint32_t step = me.rank;
  PGAS_ROLLED
  while (step < all->shape.count) {
    all->skip(step);
    if (!(Direction == direction::put ? put_inline(all->queue, all->about, all->local, all->shape.bytes, slice{0, 1})
                                      : get_inline(all->queue, all->about, all->local, all->shape.bytes, slice{0, 1})))
      return false;
    step = me.size;
  }
  return true;
}

/// Implements strided puts and gets of all forms. *Callers* all threads of the group.
/// @param local memory of this PE; gets write this memory despite const
template <direction Direction, PGAS_IS(group) G>
PGAS_COLD void proxied_strided(proxy_queue queue, G g, std::int32_t pe, const void* remote, const void* local,
                               strided_range shape, completion when) {
  constexpr bool put = Direction == direction::put;
  if (shape.bytes == 0) shape.count = 0;
  proxied_blocks all{queue,
                     {put ? operation::iput : operation::iget, pe, queue.offset(remote)},
                     static_cast<std::byte*>(const_cast<void*>(local)),
                     shape,
                     when};
  bool lost = false;
  if (!is_global(local)) {
    lost = !copy_strided_inline<Direction>(&all, slice_of(g));
  } else if (g.thread_rank() == 0 && shape.count != 0) {
    lost = !submit_blocks<Direction>(&all);
  }
  exit_if_lost(g, lost, when);
}

/// Implements put_signal() and put_signal_nbi(). *Callers* all threads of the group. (The arguments are in the thread's
/// local memory, and the work of the single thread is in a separate function, because values that are live across calls
/// cost the kernel registers.)
template <PGAS_IS(group) G>
PGAS_COLD void proxied_put_signal(const proxied_copy* call, const trailing_signal* signal, G g) {
  const bool in_pieces = call->bytes > sizeof(payload) ? !is_global(call->local) : call->bytes > sizeof(std::uint64_t);
  bool lost = false;
  if (in_pieces) {
    lost = !put_inline(call->queue, {operation::put_signal, call->pe, call->queue.offset(call->remote)}, call->local,
                       call->bytes, slice_of(g));
    g.sync();
  }
  if (g.thread_rank() == 0 && !lost) lost = !submit_put_signal(call, signal, in_pieces);
  exit_if_lost(g, lost, call->when);
}

}  // namespace pgas::detail
