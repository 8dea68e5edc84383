/// @file
/// The producers' side of the command ring (`detail/proxy_ring.hpp`): submits a command to the proxy and waits for its
/// answer. Used by `proxied_words.hpp`, `proxied_copy.hpp` and `hierarchical_barrier.hpp`. The ring has many producers,
/// which reserve slots by number. The lap in a slot shows whether the slot is full.
///
/// All commands go through one function, submit(). A command is in the local memory of its thread, and submit()
/// receives its address. A kernel needs registers for the values that its loop keeps, and additional registers for the
/// functions that the loop may call. If commands were passed by value, every kernel would need more registers, even if
/// all PEs are direct. (A loop around g() needs 38 registers. With arguments by value, the loop needed 46.)
///
/// The waits use `wait.hpp`. If the ring stays full or an answer is missing, the wait ends with a failure record.
#pragma once

#include "pgas/device/impl/sync/wait.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

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

  /// A command without operands and answer.
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

/// Waits for a unit. Out of line, because many reductions call it.
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

}  // namespace pgas::detail
