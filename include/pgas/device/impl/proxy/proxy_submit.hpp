/// @file
/// The producers' side of the command ring (`detail/proxy_ring.hpp`): submits a command to the proxy and waits for its
/// answer. Used by `proxied_words.hpp`, `proxied_copy.hpp` and `hierarchical_barrier.hpp`. Multi-producer ring with
/// tickets and laps.
///
/// Operations on words contain this code inline, even if all PEs are direct. An out-of-line function costs its callers
/// the registers that it saves plus the maximum of all functions that it calls, which is more than the inline code
/// needs. (A stencil kernel that sends its halo by p() has 32 registers; with the calls it has 57, and half as many
/// threads are resident.) The arguments of a command take few registers: a `proxy_queue` and an `op_info` instead of a
/// context.
///
/// Waits are those of `wait.hpp`: a ring that stays full, or a missing answer, ends with a record.
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

/// The answer to a command.
struct reply {
  payload value;
  bool lost;  ///< there will be no answer; the record is written
};

/// The operation and target of a command, for records.
struct op_info {
  operation what;
  std::int32_t pe;
  std::uint64_t offset;
};

/// The target of a command, given as an op_info or as a pointer to a call that contains one.
[[nodiscard]] PGAS_FN op_info op_info_of(const op_info& about) { return about; }
template <class Call>
[[nodiscard]] PGAS_FN op_info op_info_of(const Call* call) {
  return call->about;
}

/// The record of a command that can't be submitted or is not answered. Out of line with few arguments: the 17 words of
/// a record would otherwise determine the register count of a kernel with a p().
PGAS_COLD void report_proxy_failure(proxy_queue queue, op_info about, failure why, std::uint64_t expected,
                                    std::uint64_t seen) {
  leave_failure_here(queue.table->control, queue.table->my_slot,
                     lost_wait(why, about.what, about.pe, about.offset, cmp::ge, expected, seen));
}

/// A slot of the ring that this thread fills.
struct reserved_slot {
  command* slot;  ///< null: the thread gave up; the record is written
  std::uint64_t lap;
};

/// Waits for a slot. Its owner must not wait for any thread before publish(), because the proxy takes commands in
/// order.
/// @param about an op_info, or a pointer to a call that contains one; it is loaded only for a record
template <class About>
[[nodiscard]] PGAS_FN reserved_slot reserve_slot(proxy_queue queue, const About& about) {
  const ring_view& ring = queue.table->ring;
  ring_heads* const heads = ring.heads;
  const std::uint32_t size = std::uint32_t{1} << ring.log2_commands;
  const std::uint64_t number = fetch<rmw::add>(&heads->next, std::uint64_t{1});
  std::uint64_t taken = load_relaxed(&heads->taken);
  // The difference is at most the number of threads, so 32 bits hold it and take fewer registers.
  const auto has_room = [&] { return static_cast<std::uint32_t>(number - taken) < size; };
  if (has_room()) {
    fence_acquire();
  } else {
    const std::uint64_t* const progress = &ring.progress->taken;
    const failure why = poll_quietly(queue.table->control, [&] {
      taken = load_relaxed(progress);
      return has_room();
    });
    if (why != failure::none) PGAS_UNLIKELY {
      report_proxy_failure(queue, op_info_of(about), why, number - size + 1, taken);
      return {nullptr, 0};
    }
    fence_acquire();
    // may undo a newer store of another thread, which then reads the host's word again
    store_release(&heads->taken, taken);
  }
  return {ring.commands + (number & (size - 1)), (number >> ring.log2_commands) + 1};
}

/// A cell for an answer, for the exclusive use of this thread until it has read the answer.
struct reserved_answer {
  std::uint32_t cell;  ///< no_answer: the thread gave up
  std::uint64_t lap;
};

/// Waits for a cell. (Similar to reserve_unit(), but a separate function: with a common function a loop of g() reached
/// 268 GB/s instead of 354, because of the code that ptxas generates for this slow path.)
template <class About>
[[nodiscard]] PGAS_FN reserved_answer reserve_answer(proxy_queue queue, const About& about) {
  const ring_view& ring = queue.table->ring;
  const std::uint64_t number = fetch<rmw::add>(&ring.heads->next_answer, std::uint64_t{1});
  const std::uint64_t laps = number >> ring.log2_answers;
  const auto cell = static_cast<std::uint32_t>(number - (laps << ring.log2_answers));
  const std::uint64_t* const free_laps = ring.free_laps() + cell;
  std::uint64_t seen = 0;
  const failure why = poll_quietly(queue.table->control, [&] {
    seen = load_relaxed(free_laps);
    return seen == laps;
  });
  if (why != failure::none) PGAS_UNLIKELY {
    report_proxy_failure(queue, op_info_of(about), why, laps, seen);
    return {no_answer, 0};
  }
  fence_acquire();
  return {cell, laps + 1};
}

/// A unit of the workspace, for the exclusive use of this group until release_unit().
struct reserved_unit {
  std::byte* at;  ///< null: the thread gave up
  std::uint64_t number;
};

/// Waits for a unit. Out of line, because many reductions call it.
[[nodiscard]] PGAS_COLD reserved_unit reserve_unit(proxy_queue queue, op_info about) {
  const workspace_view& space = queue.table->workspace;
  const std::uint64_t number = fetch<rmw::add>(space.next, std::uint64_t{1});
  const std::uint64_t laps = number >> space.log2_units;
  const std::uint64_t unit = number - (laps << space.log2_units);
  const std::uint64_t* const free_laps = space.next + 1 + unit;
  std::uint64_t seen = 0;
  const failure why = poll_quietly(queue.table->control, [&] {
    seen = load_relaxed(free_laps);
    return seen == laps;
  });
  if (why != failure::none) PGAS_UNLIKELY {
    report_proxy_failure(queue, about, why, laps, seen);
    return {nullptr, 0};
  }
  fence_acquire();
  return {space.units + unit * workspace_view::unit_bytes, number};
}

/// Releases a unit that no thread uses any more.
PGAS_COLD void release_unit(proxy_queue queue, std::uint64_t number) {
  const workspace_view& space = queue.table->workspace;
  const std::uint64_t laps = number >> space.log2_units;
  store_release(space.next + 1 + (number - (laps << space.log2_units)), laps + 1);
}

/// Waits for the answer. Acquires: the proxy's work for the command is visible.
template <class About>
[[nodiscard]] PGAS_FN reply await_answer(proxy_queue queue, const About& about, reserved_answer at) {
  const ring_view& ring = queue.table->ring;
  const answer* const cell = ring.answers + at.cell;
  std::uint64_t seen = 0;
  const failure why = poll_quietly(queue.table->control, [&] {
    seen = load_relaxed(&cell->lap);
    return seen == at.lap;
  });
  if (why != failure::none) PGAS_UNLIKELY {
    report_proxy_failure(queue, op_info_of(about), why, at.lap, seen);
    return {{}, true};
  }
  fence_acquire();
  const reply got{{{load_relaxed(&cell->value[0]), load_relaxed(&cell->value[1])}}, false};
  store_release(ring.free_laps() + at.cell, at.lap);
  return got;
}

/// Two words of a command.
PGAS_FN void fill(std::uint64_t* to, std::uint64_t low, std::uint64_t high) {
  store_relaxed(reinterpret_cast<vec16*>(to),
                vec16{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                       static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}});
}

/// Fills all fields of a command except `lap`. The stores are strong: the thread sanitizer then does not treat them as
/// bulk data, which would end the effect of an earlier fence.
PGAS_FN void fill(command* slot, command_kind kind, atomic_update update, datatype as, const op_info& about,
                  std::uint64_t local, std::uint64_t bytes, std::uint32_t cell, std::uint32_t block = 0) {
  const std::uint64_t head = static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(update) << 8 |
                             static_cast<std::uint64_t>(as) << 16 |
                             std::uint64_t{static_cast<std::uint32_t>(about.pe)} << 32;
  store_relaxed(&slot->lap + 1, head);
  fill(&slot->offset, about.offset, local);
  fill(&slot->bytes, bytes, cell | std::uint64_t{block} << 32);
}

/// Passes the command to the proxy. *Order* this thread's earlier accesses are visible to the proxy when it sees the
/// command, and to all threads that see the command's effect.
PGAS_FN void publish(proxy_queue queue, const reserved_slot& slot) {
  store_release(&slot.slot->lap, slot.lap);
  wake_proxy(queue.table->control->bell);
}

/// Submits a command without operands, and waits for the answer. @param about as of reserve_slot()
template <class About>
[[nodiscard]] PGAS_FN reply request_reply(proxy_queue queue, const About& about, command_kind kind,
                                          std::uint64_t bytes) {
  const reserved_answer answers = reserve_answer(queue, about);
  if (answers.cell == no_answer) return {{}, true};
  const reserved_slot reserved = reserve_slot(queue, about);
  if (reserved.slot == nullptr) return {{}, true};
  fill(reserved.slot, kind, atomic_update::fetch, datatype::u64, op_info_of(about), 0, bytes, answers.cell);
  publish(queue, reserved);
  return await_answer(queue, about, answers);
}

/// Returns when all earlier commands of this PE's contexts to PE `pe` of the world, or to all PEs if `pe` is -1, are
/// complete. Acquires: their data has arrived. @return False if it gave up.
[[nodiscard]] PGAS_FN bool drain(proxy_queue queue, operation what, std::int32_t pe) {
  const ring_view ring = queue.table->ring;
  const std::uint64_t next = load_relaxed(&ring.heads->next);
  if (load_relaxed(&ring.heads->completed) >= next) {  // no command since the host was last asked
    fence_acquire();
    return true;
  }
  const std::uint64_t completed = load_relaxed(&ring.progress->completed);
  if (completed >= next) {
    fence_acquire();
    store_release(&ring.heads->completed, completed);  // may undo a newer store of another thread, as in reserve_slot()
    return true;
  }
  return !request_reply(queue, op_info{what, pe, 0}, command_kind::quiet, 0).lost;
}

}  // namespace pgas::detail
