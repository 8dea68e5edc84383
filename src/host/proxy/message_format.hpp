/// @file
/// What proxies say to one another: messages of records. A message is a message_header and then records, each a
/// record_header, what its kind adds to that, and its payload, filled up to a multiple of 8 bytes.
///
/// Messages to one PE are numbered from 1 on and carried out in that order; number 0 has no records. Each message says
/// up to which number the messages of the other direction have taken effect, and up to which number somebody waits to
/// hear the same of its own direction: an acknowledgement of others waits a while for a message that it can go with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pgas/detail/datatype.hpp"

namespace pgas::detail {

struct message_header {
  static constexpr std::uint32_t expected_magic = 0x70676174;  // "tagp", and another version is another number

  std::uint64_t sequence = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t awaited = 0;  ///< messages up to this one are to be acknowledged at once
  std::uint32_t bytes = 0;    ///< of the whole message
  std::uint32_t magic = expected_magic;
};
static_assert(sizeof(message_header) == 32 && std::is_trivially_copyable_v<message_header>);

enum class record_kind : std::uint8_t {
  put = 1,      ///< payload: `bytes` for `offset`
  put_signal,   ///< signal_part; the same, then the signal
  put_strided,  ///< strided_part; payload: `count` blocks of `bytes`, one behind the other
  atomic,       ///< atomic_part
  get,          ///< request_part; `bytes` at `offset` are asked for
  get_strided,  ///< request_part, strided_part
  reply,        ///< payload: the `bytes` that were asked for as `offset`
};

/// `offset` lies in the slot of the PE that the record goes to.
struct record_header {
  record_kind kind = record_kind::put;
  atomic_update update = atomic_update::fetch;  ///< of atomic and put_signal
  datatype as = datatype::u64;                  ///< of atomic
  std::uint8_t fenced = 0;                      ///< of atomic: not 0: as batched_atomic::fenced
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(record_header) == 16 && std::is_trivially_copyable_v<record_header>);

struct signal_part {
  std::uint64_t offset;
  std::uint64_t value;
};
struct strided_part {
  std::uint64_t count;
  std::int64_t step;  ///< bytes, between blocks in the slot
};
struct atomic_part {
  std::uint64_t request;  ///< for the reply, which has 8 bytes; 0: none is wanted
  std::uint64_t value;
  std::uint64_t condition;
};
struct request_part {
  std::uint64_t request;
};

/// The most that a record adds to its payload.
inline constexpr std::size_t record_overhead = sizeof(record_header) + sizeof(request_part) + sizeof(strided_part);
static_assert(record_overhead >= sizeof(record_header) + sizeof(atomic_part));

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// How many messages to one PE may be under way before it has acknowledged the first of them.
inline constexpr std::uint64_t message_window = 32;

/// How many of them may be there when large things add another: small things wait behind them.
inline constexpr std::uint64_t window_of_jobs = 8;

/// The longest messages that are sent.
inline constexpr std::size_t largest_message = std::size_t{64} << 10;

/// The most payload of one record, for transports whose messages hold `capacity` bytes.
[[nodiscard]] constexpr std::size_t payload_limit(std::size_t capacity) {
  return (capacity - sizeof(message_header) - record_overhead) / 8 * 8;
}

}  // namespace pgas::detail
