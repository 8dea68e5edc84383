/// @file
/// The messages between proxies. A message is a message_header and a sequence of operations. Each operation is a
/// message_op_header, the parts of its kind, and its payload, padded to a multiple of 8 bytes.
///
/// Messages to one PE are numbered from 1 and are executed in the order of their numbers. A message with number 0
/// contains no operations. Each message acknowledges the messages of the other direction that have taken effect. A
/// message also contains the number up to which the receiver must acknowledge messages immediately. Other
/// acknowledgements wait for some time for a message that can carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pgas/detail/datatype_and_update.hpp"

namespace pgas::detail {

struct message_header {
  static constexpr std::uint32_t expected_magic = 0x70676174;  // "tagp"; each version of the format has another number

  std::uint64_t sequence = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t ack_request = 0;  ///< messages up to this number are to be acknowledged immediately
  std::uint32_t bytes = 0;        ///< the size of the whole message
  std::uint32_t magic = expected_magic;
};
static_assert(sizeof(message_header) == 32 && std::is_trivially_copyable_v<message_header>);

enum class message_op_kind : std::uint8_t {
  put = 1,      ///< payload: the `bytes` bytes for `offset`
  put_signal,   ///< signal_part; the payload of a put, then the signal
  put_strided,  ///< strided_part; payload: `count` blocks of `bytes`, contiguous
  atomic,       ///< atomic_part
  get,          ///< request_part; requests `bytes` at `offset`
  get_strided,  ///< request_part, strided_part
  reply,        ///< payload: the `bytes` bytes that answer the request with the key `offset`
};

/// The head of an operation. `offset` lies in the slot of the PE that receives the operation.
struct message_op_header {
  message_op_kind kind = message_op_kind::put;
  atomic_update update = atomic_update::fetch;  ///< for atomic and put_signal
  datatype as = datatype::u64;                  ///< for atomic
  std::uint8_t fenced = 0;                      ///< for atomic: not 0 if batched_atomic::fenced is set
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(message_op_header) == 16 && std::is_trivially_copyable_v<message_op_header>);

struct signal_part {
  std::uint64_t offset;
  std::uint64_t value;
};
struct strided_part {
  std::uint64_t count;
  std::int64_t step;  ///< the distance between blocks in the slot, in bytes
};
struct atomic_part {
  std::uint64_t request;  ///< the key for the reply of 8 bytes; 0: no reply
  std::uint64_t value;
  std::uint64_t condition;
};
struct request_part {
  std::uint64_t request;
};

/// The largest number of bytes that an operation has besides its payload.
inline constexpr std::size_t message_op_overhead =
    sizeof(message_op_header) + sizeof(request_part) + sizeof(strided_part);
static_assert(message_op_overhead >= sizeof(message_op_header) + sizeof(atomic_part));

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// The largest number of unacknowledged messages to one PE.
inline constexpr std::uint64_t message_window = 32;

/// A bulk operation adds no message while this number of messages is in flight, because small operations wait for these
/// messages.
inline constexpr std::uint64_t bulk_window = 8;

/// The size of the longest messages that are sent.
inline constexpr std::size_t largest_message = std::size_t{64} << 10;

/// The largest payload of one operation, for transports whose messages hold `capacity` bytes.
[[nodiscard]] constexpr std::size_t payload_limit(std::size_t capacity) {
  return (capacity - sizeof(message_header) - message_op_overhead) / 8 * 8;
}

}  // namespace pgas::detail
