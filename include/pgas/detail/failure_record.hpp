/// @file
/// The record that a kernel leaves when it fails, the enumerations of failures and operations in the record, and the
/// control block, which contains the record and by which the host controls running kernels.
#pragma once

#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/detail/proxy_ring.hpp"

namespace pgas::detail {

/// The reason why a device operation ended early. The host converts the reason to a pgas::error.
enum class failure : std::uint32_t {
  none = 0,
  aborted,          ///< the abort word was set: a peer died, or a wait of a peer failed
  timed_out,        ///< the wait exceeded its deadline
  pe_out_of_range,  ///< a PE number out of range, found with checks on
  outside_heap,     ///< an address outside the heap, found with checks on
  misaligned,       ///< a misaligned address, found with checks on
  not_a_member,     ///< a collective of a team that does not contain this PE; found with checks on
  bad_channel,      ///< a channel that the team does not have; found with checks on
  asymmetric,       ///< PEs called different collectives, or one collective with different sizes; found with checks on
  not_held,         ///< a lock was cleared by a PE that does not hold it
  too_long,         ///< a message is longer than its channel
  out_of_turn,      ///< a PE sent or received two messages without a message in the other direction between them
  no_such_value,    ///< an unknown enumerator, or no comparison values; found with checks on
  not_direct,       ///< a proxied PE was addressed in a language whose kernels have only loads and stores
  asked,            ///< no failure: the host asks what the wait is for, and the wait continues
  not_received,     ///< a round of a channel began before the previous round was received; found with checks on
};

/// The device operation that wrote a record.
enum class operation : std::uint32_t {
  none = 0,
  put,
  get,
  p,
  g,
  put_signal,
  signal,
  atomic,
  wait,
  barrier,
  sync,
  iput,
  iget,
  broadcast,
  fcollect,
  collect,
  alltoall,
  alltoalls,
  reduce,
  reduce_scatter,
  scan,
  lock,
  grid_sync,
  fence,
  quiet,
  send,
  receive,
  bulk_copy,
  atomic_fetch,  ///< this and the next enumerators are in the order of the enumerators of atomic_update
  atomic_set,
  atomic_add,
  atomic_and,
  atomic_or,
  atomic_xor,
  atomic_min,
  atomic_max,
  atomic_swap,
  atomic_compare_swap,
  atomic_fetch_add,  ///< this and the next enumerators are the operations from atomic_add to atomic_max, with the old
                     ///< value as result
  atomic_fetch_and,
  atomic_fetch_or,
  atomic_fetch_xor,
  atomic_fetch_min,
  atomic_fetch_max,
};

/// The operation of an atomic update, with or without a result.
[[nodiscard]] PGAS_HD constexpr operation operation_of(atomic_update how, bool fetches) {
  const bool has_both = how >= atomic_update::add && how <= atomic_update::max;
  const auto first =
      static_cast<std::uint32_t>(fetches && has_both ? operation::atomic_fetch_add : operation::atomic_fetch);
  const auto skipped = static_cast<std::uint32_t>(fetches && has_both ? atomic_update::add : atomic_update::fetch);
  return static_cast<operation>(first + static_cast<std::uint32_t>(how) - skipped);
}

/// A record, written by the first device thread of a PE that fails, or by a thread that answers a question of the host.
struct failure_record {
  std::uint32_t complete;  ///< 0: no record. Complete record: 1 for a failure, the question's number for an answer
  failure why;
  operation what;
  std::int32_t pe;            ///< the addressed or awaited PE; -1 if the wait does not know it
  std::uint64_t heap_offset;  ///< the offset of the word or the buffer from the start of the slot
  std::uint64_t bytes;        ///< the size of the access
  std::uint64_t expected;     ///< the comparison value of the wait
  std::uint64_t seen;         ///< the last value that the wait read
  std::int32_t compare;       ///< a pgas::cmp
  std::uint32_t block;        ///< linear block index
  std::uint32_t thread;       ///< linear thread index in its block
  std::uint32_t limit_ms;     ///< the limit of the wait; 0: PGAS_WAIT_TIMEOUT. In an answer: the duration of the wait
                              ///< so far
};
static_assert(sizeof(failure_record) == 64);

/// The maximum number of waits that can answer a question. If more threads wait, control_block::unanswered tells the
/// host.
inline constexpr std::uint32_t most_answers = 128;

/// Host memory that kernels can read, one per PE and world. The host writes the first cache line; kernels write the
/// records.
struct alignas(128) control_block {
  std::uint32_t abort;  ///< 0: continue; otherwise 1 + the PE that failed, or abort_no_pe
  std::uint32_t
      question;  ///< 0: none; otherwise the number of the question. Each wait that sees a new number writes one answer
  std::uint64_t heap_bytes;           ///< the mapped bytes of each slot, for checks
  std::uint64_t wait_timeout_ns;      ///< 0: waits have no deadline
  std::uint64_t team_segments_begin;  ///< the range of this PE's memory that only some PEs share, for checks
  std::uint64_t team_segments_end;
  std::uint64_t my_slot;  ///< the slot of this PE, by its address in kernels
  alignas(128) failure_record record;
  failure_record answers[most_answers];
  std::uint32_t unanswered;  ///< the last question that some waits could not answer for lack of space
  proxy_bell bell;           ///< wakes host threads and this PE's proxy
};
static_assert(sizeof(control_block) % 128 == 0);

inline constexpr std::uint32_t abort_no_pe = 0xffffffffu;

}  // namespace pgas::detail
