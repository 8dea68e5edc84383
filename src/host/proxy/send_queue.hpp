/// @file
/// The messages from one PE to another: filled, numbered, and held back while too many are in flight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/proxy/buffer_pool.hpp"
#include "host/proxy/grow_only_queue.hpp"
#include "host/proxy/memory_access.hpp"
#include "host/proxy/proxy_statistics.hpp"
#include "host/proxy/wire_format.hpp"
#include "host/transport/transport.hpp"

namespace pgas::detail {

/// The end of all send queues of a proxy: sends a finished message when the reads of local memory that fill it are
/// complete.
class message_output {
 public:
  message_output(int me, buffer_pool& pool, memory_access& memory, transport& network, proxy_statistics& counts)
      : me_(me), pool_(pool), memory_(memory), network_(network), counts_(counts) {}

  /// Fills `payload` from local memory. Whether the payload is there, and the source may be reused, only after
  /// complete_reads(), which sending a message includes.
  [[nodiscard]] bool read(std::byte* payload, const std::byte* local, const block_list& blocks);
  void complete_reads();
  /// Whether messages should be sent later and together, because the wait for reads is worth sharing.
  [[nodiscard]] bool defers() const noexcept;
  /// Sends a message and takes its buffer over.
  void send(int pe, buffer_pool::key message);
  /// Messages of this PE to itself, which no transport carries.
  [[nodiscard]] grow_only_queue<buffer_pool::key>& to_self() noexcept { return to_self_; }

 private:
  const int me_;
  buffer_pool& pool_;
  memory_access& memory_;
  transport& network_;
  proxy_statistics& counts_;
  std::size_t reads_ = 0;  ///< since the last complete_reads()
  grow_only_queue<buffer_pool::key> to_self_;
};

/// Operations are appended to an open message until it is full or flushed. Those of commands are refused while the
/// window is full and so is the message. Replies never are: the requesting PE limits their number.
///
/// An acknowledgement waits for a message to travel with, a reply for example: until the other side requests it, a
/// quarter of the window is filled, or a number of flushes have passed.
class send_queue {
 public:
  send_queue(int pe, buffer_pool& pool, message_output& output) : pe_(pe), pool_(pool), output_(output) {}

  /// Whether an operation of so many bytes can be appended now, on behalf of a command. May send.
  [[nodiscard]] bool reserve(std::size_t bytes);
  /// Makes room for a reply. Sends nothing.
  void reserve_reply(std::size_t bytes);
  /// Appends an operation, after one of the two; returns the address of its payload.
  template <class... Parts>
  std::byte* append(const message_op_header& head, std::size_t payload, const Parts&... parts) {
    std::byte* at = pool_.extend(open_, sizeof head + (std::size_t{0} + ... + sizeof(Parts)) + padded(payload));
    const auto put = [&at](const auto& part) {
      std::memcpy(at, &part, sizeof part);
      at += sizeof part;
    };
    put(head);
    (put(parts), ...);
    return at;
  }

  /// The number of the message that contains the last operation.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return last_; }
  /// A producer waits for messages up to this one: the next flush() requests their acknowledgement.
  void await(std::uint64_t sequence) noexcept { awaited_ = std::max(awaited_, sequence); }
  /// Sends as much as the window allows. @param completed messages of the other direction that may be acknowledged.
  /// When no message goes that could carry a due acknowledgement or request, sends an empty one; returns whether it
  /// did.
  bool flush(std::uint64_t completed);
  /// The other side has acknowledged messages up to this one. False where that can't be.
  [[nodiscard]] bool acknowledge(std::uint64_t sequence) noexcept;
  /// The other side requests acknowledgements up to this one.
  void request_ack(std::uint64_t sequence) noexcept { requested_ = std::max(requested_, sequence); }

  /// Messages that have not taken effect, the open one included.
  [[nodiscard]] std::uint64_t in_flight() const noexcept { return last_ - acknowledged_; }
  /// All messages have been sent and have taken effect.
  [[nodiscard]] bool drained() const noexcept { return acknowledged_ == last_; }
  /// An acknowledgement has not been sent.
  [[nodiscard]] bool ack_due(std::uint64_t completed) const noexcept { return sent_ack_ != completed; }
  /// A flush() would send something, now, when the window opens, or when an acknowledgement has waited long enough.
  [[nodiscard]] bool has_work(std::uint64_t completed) const noexcept {
    return open_ != buffer_pool::none || !closed_.empty() || ack_due(completed);
  }
  /// Releases all buffers and sends nothing any more.
  void abandon() noexcept;

 private:
  /// Flushes that an acknowledgement may wait. An idle turn takes some 40 ns: a microsecond together, in which a kernel
  /// that polls has seen the data, and its reply has arrived.
  static constexpr std::uint32_t longest_ack_delay = 24;

  [[nodiscard]] bool window_open() const noexcept { return sent_ - acknowledged_ < message_window; }
  [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
    return open_ != buffer_pool::none && pool_.used(open_) + bytes <= pool_.capacity();
  }
  void open();
  void close();
  void send_closed();
  void send(buffer_pool::key message, std::uint64_t sequence);
  [[nodiscard]] bool must_request_ack() const noexcept;
  [[nodiscard]] bool must_acknowledge() noexcept;

  const int pe_;
  buffer_pool& pool_;
  message_output& output_;
  buffer_pool::key open_ = buffer_pool::none;
  grow_only_queue<buffer_pool::key> closed_;  ///< full, in the order of their numbers, all below the open one's
  std::uint64_t last_ = 0;                    ///< number given
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;               ///< by the other side
  std::uint64_t completed_ = 0;                  ///< messages of the other direction that may be acknowledged
  std::uint64_t sent_ack_ = 0;                   ///< the acknowledgement that was sent last
  std::uint64_t awaited_ = 0;                    ///< a producer waits for messages up to this one
  std::uint64_t sent_request_ = 0;               ///< the request for acknowledgement that was sent last
  std::uint64_t requested_ = 0;                  ///< the one received last
  std::uint32_t ack_delay_ = longest_ack_delay;  ///< flushes left
  bool abandoned_ = false;
};

}  // namespace pgas::detail
