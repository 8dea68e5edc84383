/// @file
/// One-sided operations as the host library hands them to a backend.
#pragma once

#include "pgas/detail/datatype_and_update.hpp"
#include "pgas/device/context.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The number of a stream's wait among the enqueued operations of a PE, 0: it has none. Its answer to the host carries
/// the number in place of the PE, which the wait does not know.
struct wait_ticket {
  std::uint32_t number = 0;

  static constexpr std::uint32_t most = 0x3fffffff;
  [[nodiscard]] PGAS_HD std::int32_t as_pe() const { return -1 - static_cast<std::int32_t>(number); }
  [[nodiscard]] static constexpr wait_ticket of_pe(std::int32_t pe) {
    return {pe < -1 ? static_cast<std::uint32_t>(-1 - pe) : 0};
  }
};

/// An operation on addresses: those of the target PE where it is direct, else this PE's own.
struct operation_request {
  enum class kind : std::uint8_t {
    store,    ///< `value`, `bytes` of it, to `to`
    strided,  ///< `count` blocks of `bytes` from `from` to `to`
    atomic,   ///< `how` on the word at `to`
    wait,     ///< until each of `count` words at `from` satisfies `compare`
    quiet,    ///< earlier work of the stream has taken effect everywhere
    put,      ///< as strided, to PE `pe`, which is proxied
    get,      ///< as strided, from PE `pe`, which is proxied
    signal,   ///< `how` (set or add) with `value` on the signal at `to` of PE `pe`, after the puts before it
  };
  kind what = kind::store;
  atomic_update how = atomic_update::fetch;
  datatype as = datatype::u64;
  cmp compare = cmp::eq;
  std::int32_t pe = direct;  ///< of the world, where it is proxied
  bool release = false;      ///< earlier work of the stream becomes visible before the update (signals)
  bool complete = false;     ///< to a proxied PE: has taken effect there before later work
  bool until_quiet = false;  ///< to a proxied PE: local memory may be in use until the command is complete
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::int64_t to_step = 0;  ///< bytes from the start of a block to the start of the next
  std::int64_t from_step = 0;
  std::uint64_t value[2] = {};   ///< bit pattern
  std::uint64_t condition = 0;   ///< for compare_swap, bit pattern
  void* result = nullptr;        ///< where the old value goes, as wide as the word; null: nowhere
  const int* status = nullptr;   ///< words to leave out of a wait
  const void* values = nullptr;  ///< a wait's value for each word; null: `value` for all
  wait_ticket ticket;            ///< a wait's
  context here;                  ///< for waits, and where some PEs are proxied

  static constexpr std::int32_t direct = -1;
};

/// An atomic operation on a word of this PE, one of a list: requested by other PEs by message.
struct batched_atomic {
  void* at = nullptr;
  atomic_update how = atomic_update::fetch;
  datatype as = datatype::u64;
  bool fenced = true;  ///< ordered after all that is before it in the list; else only after operations on the same word
  bool fetches = true;          ///< `old` is wanted
  std::uint64_t value = 0;      ///< bit pattern
  std::uint64_t condition = 0;  ///< for compare_swap, bit pattern
  std::uint64_t old = 0;        ///< the bits before, which the device leaves here; `set` may leave them out
};

}  // namespace pgas::detail
