/// @file
/// Requests by which the host library passes one-sided operations to a backend.
#pragma once

#include "pgas/copy_list.hpp"
#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/device/context.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The number of a wait on a stream, among the enqueued operations of a PE; 0: no number. When the wait answers a
/// question of the host, the answer contains this number in the place of a PE, because the wait does not know the PE
/// for which it waits.
struct wait_ticket {
  std::uint32_t number = 0;

  static constexpr std::uint32_t most = 0x3fffffff;
  [[nodiscard]] PGAS_HD std::int32_t as_pe() const { return -1 - static_cast<std::int32_t>(number); }
  [[nodiscard]] static constexpr wait_ticket of_pe(std::int32_t pe) {
    return {pe < -1 ? static_cast<std::uint32_t>(-1 - pe) : 0};
  }
};

/// An operation on addresses. For a direct PE, target addresses are in the slot of that PE; for a proxied PE, they are
/// in this PE's own slot.
struct operation_request {
  enum class kind : std::uint8_t {
    store,    ///< stores the first `bytes` bytes of `value` at `to`
    strided,  ///< copies `count` blocks of `bytes` from `from` to `to`
    atomic,   ///< applies `how` to the word at `to`
    wait,     ///< waits until each of `count` words at `from` satisfies `compare`
    quiet,    ///< makes sure that earlier work of the stream has taken effect everywhere
    put,      ///< like strided, to PE `pe`, which is proxied
    get,      ///< like strided, from PE `pe`, which is proxied
    signal,   ///< applies `how` (set or add) with `value` to the signal at `to` of PE `pe`, after the earlier puts
  };
  kind what = kind::store;
  atomic_update how = atomic_update::fetch;
  datatype as = datatype::u64;
  cmp compare = cmp::eq;
  std::int32_t pe = direct;  ///< the PE's number in the world if the PE is proxied
  bool release = false;      ///< for signals: earlier work of the stream becomes visible before the update
  bool complete = false;     ///< for a proxied PE: the operation takes effect before later work
  bool until_quiet = false;  ///< for a proxied PE: the local memory can be in use until the command is complete
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::int64_t to_step = 0;  ///< bytes from the start of a block to the start of the next
  std::int64_t from_step = 0;
  std::uint64_t value[2] = {};   ///< the operand or the data, as a bit pattern
  std::uint64_t condition = 0;   ///< the condition of compare_swap, as a bit pattern
  void* result = nullptr;        ///< receives the old value, as wide as the word; null: not needed
  const int* status = nullptr;   ///< for a wait: one value per word; if not 0, the wait ignores the word
  const void* values = nullptr;  ///< for a wait: the value for each word; null: `value` for all
  wait_ticket ticket;            ///< for a wait
  context here;                  ///< set for waits, and if some PEs are proxied

  static constexpr std::int32_t direct = -1;
};

/// A request for the copies of a list: to a PE, from a PE, or within memory that this process has mapped.
struct list_request {
  copy_list list;
  std::int32_t pe = no_pe;  ///< the PE's number in the world
  bool put = true;
  bool proxied = false;      ///< whether the PE is proxied
  unsigned most_blocks = 0;  ///< the limit of thread blocks; 0: the caller sets no limit
  context here;              ///< of the world

  static constexpr std::int32_t no_pe = -1;  ///< the value of `pe` if all addresses of the list are in this process
};

/// An atomic operation on a word of this PE, as an entry of a list. Another PE has requested the operation by a
/// message.
struct batched_atomic {
  void* at = nullptr;
  atomic_update how = atomic_update::fetch;
  datatype as = datatype::u64;
  /// Whether the operation is ordered after all earlier entries of the list. If false, the operation is ordered only
  /// after operations on the same word.
  bool fenced = true;
  bool fetches = true;          ///< the caller needs `old`
  std::uint64_t value = 0;      ///< a bit pattern
  std::uint64_t condition = 0;  ///< for compare_swap, a bit pattern
  std::uint64_t old = 0;        ///< the device stores the old bits here; the operation `set` may skip this store
};

}  // namespace pgas::detail
