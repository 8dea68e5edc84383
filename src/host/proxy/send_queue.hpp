/// @file
/// The messages from one PE to another. Messages are filled, numbered, and held back while too many are in flight.
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

/// Sends the messages of all send queues of a proxy. A message is sent when all reads of local memory that fill the
/// message are complete.
class message_output {
 public:
  message_output(int me, buffer_pool& pool, memory_access& memory, transport& network, proxy_statistics& counts)
      : me_(me), pool_(pool), memory_(memory), network_(network), counts_(counts) {}

  /// Fills `payload` from local memory. Returns true if the read is still in flight. In that case the payload is
  /// incomplete, and the source must not be reused, until complete_reads(). send() calls complete_reads().
  [[nodiscard]] bool read(std::byte* payload, const std::byte* local, const block_list& blocks);
  void complete_reads();
  /// Whether messages should be sent later and together, so that all of them need only one wait for reads.
  [[nodiscard]] bool defers() const noexcept;
  /// Sends a message and takes ownership of its buffer.
  void send(int pe, buffer_pool::key message);
  /// The messages of this PE to itself. No transport carries them.
  [[nodiscard]] grow_only_queue<buffer_pool::key>& to_self() noexcept { return to_self_; }

 private:
  const int me_;
  buffer_pool& pool_;
  memory_access& memory_;
  transport& network_;
  proxy_statistics& counts_;
  std::size_t reads_ = 0;  ///< the reads since the last complete_reads()
  grow_only_queue<buffer_pool::key> to_self_;
};

/// Operations are appended to an open message until the message is full or flushed. An operation of a command is
/// refused while both the window and the message are full. Replies are never refused: the requesting PE limits their
/// number.
///
/// An acknowledgement waits for a message that can carry it, for example a reply. An empty message carries the
/// acknowledgement when the other side requests it, when a quarter of the window is filled, or after a number of
/// flushes.
class send_queue {
 public:
  send_queue(int pe, buffer_pool& pool, message_output& output) : pe_(pe), pool_(pool), output_(output) {}

  /// Whether a command can append an operation of the given size now. May send a message.
  [[nodiscard]] bool reserve(std::size_t bytes);
  /// Makes room for a reply. Sends no message.
  void reserve_reply(std::size_t bytes);
  /// Appends an operation after reserve() or reserve_reply(). Returns the address of the payload.
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
  /// Called when a producer waits for messages up to this number. The next flush() requests the acknowledgement of
  /// these messages.
  void await(std::uint64_t sequence) noexcept { awaited_ = std::max(awaited_, sequence); }
  /// Sends as many messages as the window allows. If an acknowledgement or a request is due and no message carries it,
  /// sends an empty message. Returns whether an empty message was sent.
  /// @param completed the number of the other direction's last message that may be acknowledged
  bool flush(std::uint64_t completed);
  /// Records that the other side has acknowledged messages up to this number. Returns false if the number is
  /// impossible.
  [[nodiscard]] bool acknowledge(std::uint64_t sequence) noexcept;
  /// Records that the other side requests acknowledgements of messages up to this number.
  void request_ack(std::uint64_t sequence) noexcept { requested_ = std::max(requested_, sequence); }

  /// The number of messages that have not taken effect, including the open message.
  [[nodiscard]] std::uint64_t in_flight() const noexcept { return last_ - acknowledged_; }
  /// Whether all messages have been sent and have taken effect.
  [[nodiscard]] bool drained() const noexcept { return acknowledged_ == last_; }
  /// Whether an acknowledgement remains to be sent.
  [[nodiscard]] bool ack_due(std::uint64_t completed) const noexcept { return sent_ack_ != completed; }
  /// Whether a message or an acknowledgement is left to send. A flush() holds a message back while the window is full.
  /// It also holds an acknowledgement back for up to longest_ack_delay flushes.
  [[nodiscard]] bool has_work(std::uint64_t completed) const noexcept {
    return open_ != buffer_pool::none || !closed_.empty() || ack_due(completed);
  }
  /// Releases all buffers. Sends no messages afterwards.
  void abandon() noexcept;

 private:
  /// The number of flushes for which an acknowledgement may wait. An idle turn takes about 40 ns, so the wait is about
  /// 1 us. In this time, a polling kernel sees the data and replies, and the message with the reply can carry the
  /// acknowledgement.
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
  /// Full messages in the order of their numbers, which are below the number of the open message.
  grow_only_queue<buffer_pool::key> closed_;
  std::uint64_t last_ = 0;  ///< the last number that was given to a message
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;               ///< the last message that the other side has acknowledged
  std::uint64_t completed_ = 0;                  ///< the last message of the other direction that may be acknowledged
  std::uint64_t sent_ack_ = 0;                   ///< the acknowledgement that was sent last
  std::uint64_t awaited_ = 0;                    ///< a producer waits for messages up to this number
  std::uint64_t sent_request_ = 0;               ///< the request for acknowledgement that was sent last
  std::uint64_t requested_ = 0;                  ///< the request for acknowledgement that was received last
  std::uint32_t ack_delay_ = longest_ack_delay;  ///< the number of flushes before the acknowledgement is sent
  bool abandoned_ = false;
};

}  // namespace pgas::detail
