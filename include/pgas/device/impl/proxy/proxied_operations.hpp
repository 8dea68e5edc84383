/// @file
/// Operations on proxied PEs. The header contains the producers' side of the command ring (`detail/proxy_ring.hpp`):
/// functions that submit commands to the proxy and wait for the answers. The header also contains the operations of
/// single threads (p, g, atomics, fence and quiet) as commands, and the copies and put_signal() of groups. Used by the
/// public headers, which document the operations, and by the collectives.
///
/// All commands go through one function, submit(). A command is in the local memory of its thread, and submit()
/// receives its address. A kernel needs registers for the values that its loop keeps, and additional registers for the
/// functions that the loop may call. If commands were passed by value, every kernel would need more registers, even if
/// all PEs are direct. (A loop around g() needs 38 registers. With arguments by value, the loop needed 46 registers.)
///
/// The waits use `wait.hpp`. If the ring stays full or an answer is missing, the wait ends with a failure record, and
/// the thread ends.
#pragma once

#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/detail/isa/ptx_opaque.hpp"
#include "pgas/device/impl/copy/copy.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"
#include "pgas/device/impl/sync/wait.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

// ---- the ring: reserving a slot, publishing a command, waiting for the answer

/// The part of a context that a thread needs to submit commands.
struct proxy_queue {
  const routes* table;

  [[nodiscard]] PGAS_FN std::uint64_t offset(const volatile void* local) const {
    return reinterpret_cast<std::uintptr_t>(local) - table->my_slot;
  }
};

[[nodiscard]] PGAS_FN proxy_queue proxy_queue_of(const context& ctx) { return {ctx.routes_}; }

/// The bytes inline in a command or an answer.
struct payload {
  std::uint64_t word[2];
};

/// The operation and target of a command, for records.
struct op_info {
  operation what;
  std::int32_t pe;
  std::uint64_t offset;
};

/// A command, its answer, and the wait in progress. The struct is in the local memory of its thread. Registers are
/// scarce in functions that a kernel calls indirectly, so the functions keep nothing in registers across a wait.
struct command_call {
  std::uint64_t head;       ///< kind, update, type and PE, as in a command
  std::uint64_t offset[2];  ///< `offset` and `local`
  std::uint64_t bytes[2];   ///< `bytes`; `answer` and `block`
  std::uint64_t value[2];   ///< value of the command; after submit() value of the answer
  proxy_queue queue;
  operation what;
  bool answered;  ///< the command has an answer, for which submit() waits

  wait_state now;            ///< state of the wait for a counter
  const std::uint64_t* at;   ///< the counter
  std::uint64_t least;       ///< the value that the counter must reach
  std::uint64_t seen;        ///< the last value of the counter
  std::uint64_t number;      ///< number of the command
  std::uint64_t answer_lap;  ///< lap of the answer

  /// A command without operands and without an answer.
  PGAS_FN command_call(proxy_queue to, const op_info& about, command_kind kind, std::uint64_t n)
      : head(static_cast<std::uint64_t>(kind) | std::uint64_t{static_cast<std::uint32_t>(about.pe)} << 32),
        offset{about.offset, 0},
        bytes{n, no_answer},
        value{0, 0},
        queue(to),
        what(about.what),
        answered(false) {
    set(atomic_update::fetch, datatype::u64);
  }

  PGAS_FN void set(atomic_update update, datatype as) {
    constexpr std::uint64_t kinds = 0xffff00;
    head = (head & ~kinds) | static_cast<std::uint64_t>(update) << 8 | static_cast<std::uint64_t>(as) << 16;
  }
  /// The cell of the answer.
  [[nodiscard]] PGAS_FN std::uint32_t cell() const { return static_cast<std::uint32_t>(bytes[1]); }
};

/// The record of a command that can't be submitted or is not answered.
PGAS_COLD void report_proxy_failure(const command_call* call) {
  leave_failure_here(call->queue.table->control, call->queue.table->my_slot,
                     lost_wait(call->now.why, call->what, static_cast<std::int32_t>(call->head >> 32), call->offset[0],
                               cmp::ge, call->least, call->seen));
}

/// Waits until the counter at `at` is at least `least`, and acquires. @return False if a wait failed and the thread
/// must end.
[[nodiscard]] PGAS_COLD bool await_counter(command_call* call, const std::uint64_t* at, std::uint64_t least) {
  call->at = at;
  call->least = least;
  call->now = {0, failure::none};
  call = opaque(call);
  for (;;) {
    PGAS_ROLLED
    for (std::uint32_t i = 0; i < polls_between_checks; ++i) {
      call->seen = load_relaxed(call->at);
      if (static_cast<std::int64_t>(call->seen - call->least) < 0) continue;
      fence_acquire();
      return true;
    }
    if (call->now.why != failure::none) return false;
    call->now = next_state<false>(call->queue.table->control, call->now.since, 0);
  }
}

/// A unit of the workspace, for the exclusive use of this group until release_unit().
struct reserved_unit {
  std::byte* at;  ///< null: a wait of the thread failed
  std::uint64_t number;
};

/// Waits for a unit. The function is out of line, because many reductions call it.
[[nodiscard]] PGAS_COLD reserved_unit reserve_unit(proxy_queue queue, op_info about) {
  const workspace_view& space = queue.table->workspace;
  const std::uint64_t number = fetch<rmw::add>(space.next, std::uint64_t{1});
  const std::uint64_t laps = number >> space.log2_units;
  const std::uint64_t unit = number - (laps << space.log2_units);
  command_call wait(queue, about, command_kind::quiet, 0);  // never submitted: provides fields for await_counter()
  if (!await_counter(&wait, space.next + 1 + unit, laps)) {
    report_proxy_failure(&wait);
    return {nullptr, 0};
  }
  return {space.units + unit * workspace_view::unit_bytes, number};
}

/// Releases a unit that no thread uses any more.
PGAS_COLD void release_unit(proxy_queue queue, std::uint64_t number) {
  const workspace_view& space = queue.table->workspace;
  const std::uint64_t laps = number >> space.log2_units;
  store_release(space.next + 1 + (number - (laps << space.log2_units)), laps + 1);
}

/// Two words of a command.
PGAS_FN void fill(std::uint64_t* to, const std::uint64_t* pair) {
  store_relaxed(reinterpret_cast<vec16*>(to),
                vec16{{static_cast<std::uint32_t>(pair[0]), static_cast<std::uint32_t>(pair[0] >> 32),
                       static_cast<std::uint32_t>(pair[1]), static_cast<std::uint32_t>(pair[1] >> 32)}});
}

/// Fills all fields of a slot except `lap`. The stores are atomic. ThreadSanitizer would treat other stores as bulk
/// data, which would end the effect of an earlier fence.
PGAS_FN void fill(command* slot, const command_call* call) {
  store_relaxed(&slot->lap + 1, call->head);
  fill(&slot->offset, call->offset);
  fill(&slot->bytes, call->bytes);
  fill(slot->value, call->value);
}

/// Reserves a cell for the answer, for the exclusive use of this thread until it has read the answer. @return False if
/// a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool reserve_answer(command_call* call) {
  const ring_view& ring = call->queue.table->ring;
  const std::uint64_t number = fetch<rmw::add>(&ring.heads->next_answer, std::uint64_t{1});
  const std::uint64_t laps = number >> ring.log2_answers;
  const std::uint64_t cell = number - (laps << ring.log2_answers);
  call->bytes[1] = (call->bytes[1] & ~std::uint64_t{0xffffffff}) | static_cast<std::uint32_t>(cell);
  call->answer_lap = laps + 1;
  return await_counter(call, ring.free_laps() + cell, laps);
}

/// Waits for the answer and releases its cell. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool await_answer(command_call* call) {
  if (!await_counter(call, &call->queue.table->ring.answers[call->cell()].lap, call->answer_lap)) return false;
  const ring_view& ring = call->queue.table->ring;
  const answer* const got = ring.answers + call->cell();
  call->value[0] = load_relaxed(&got->value[0]);
  call->value[1] = load_relaxed(&got->value[1]);
  store_release(ring.free_laps() + call->cell(), call->answer_lap);
  return true;
}

/// Reserves a slot of the ring. The thread must not wait for another thread before it releases the slot to the proxy,
/// because the proxy takes commands in order. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool reserve_slot(command_call* call) {
  const ring_view& ring = call->queue.table->ring;
  ring_heads* const heads = ring.heads;
  const std::uint32_t size = std::uint32_t{1} << ring.log2_commands;
  const std::uint64_t number = fetch<rmw::add>(&heads->next, std::uint64_t{1});
  const std::uint64_t taken = load_relaxed(&heads->taken);
  call->number = number;
  // `number - taken` is at most the number of threads, so 32 bits are sufficient and take fewer registers.
  if (static_cast<std::uint32_t>(number - taken) < size) {
    fence_acquire();
    return true;
  }
  if (!await_counter(call, &ring.progress->taken, number - size + 1)) return false;
  // the store may overwrite a newer value of another thread; the only effect is one more read of the host's word
  store_release(&call->queue.table->ring.heads->taken, call->seen);
  return true;
}

/// Like submit(), but without a record.
[[nodiscard]] PGAS_FN bool submit_quietly(command_call* call) {
  if (call->answered && !reserve_answer(call)) return false;
  if (!reserve_slot(call)) return false;
  {
    const ring_view& ring = call->queue.table->ring;
    const std::uint32_t size = std::uint32_t{1} << ring.log2_commands;
    command* const slot = ring.commands + (call->number & (size - 1));
    fill(slot, call);
    store_release(&slot->lap, (call->number >> ring.log2_commands) + 1);
  }
  wake_proxy(call->queue.table->control->bell);
  return !call->answered || await_answer(call);
}

/// Passes a command to the proxy. If the command has an answer, waits for the answer, and acquires: the proxy's work
/// for the command is visible. *Order* this thread's earlier accesses are visible to the proxy when it sees the
/// command, and to all threads that see the command's effect. @return False if a wait failed and the thread has written
/// the failure record.
[[nodiscard]] PGAS_COLD bool submit(command_call* call) {
  if (submit_quietly(call)) return true;
  report_proxy_failure(call);
  return false;
}

/// Returns when all earlier commands of this PE's contexts to PE `pe` of the world, or to all PEs if `pe` is -1, are
/// complete. Acquires: the data of these commands has arrived. @return False if a wait failed and the thread must end.
[[nodiscard]] PGAS_FN bool drain(proxy_queue queue, operation what, std::int32_t pe) {
  const ring_view& ring = queue.table->ring;
  const std::uint64_t next = load_relaxed(&ring.heads->next);
  if (load_relaxed(&ring.heads->completed) >= next) {  // no new command since the last read of the host's word
    fence_acquire();
    return true;
  }
  const std::uint64_t completed = load_relaxed(&ring.progress->completed);
  if (completed >= next) {
    fence_acquire();
    store_release(&ring.heads->completed, completed);  // may overwrite a newer value, as the store in reserve_slot()
    return true;
  }
  command_call call(queue, {what, pe, 0}, command_kind::quiet, 0);
  call.answered = true;
  return submit(&call);
}

// ---- operations of single threads

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

// ---- copies of groups. One thread of the group submits a command. The release of that thread also orders the accesses
// of the other threads, because the caller has synchronized the group. The proxy accesses global memory only: data in a
// thread's stack, data in a block's shared memory and short data are inline in commands, which the threads of the group
// divide among themselves.

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
/// local memory, and a separate function submits the command, because a value that is live across a call takes a
/// register of the kernel.)
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
