/// @file
/// The messages from one PE to another: collected, numbered, held back while too many are under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/proxy/fifo.hpp"
#include "host/proxy/message_format.hpp"
#include "host/proxy/message_pool.hpp"

namespace pgas::detail {

/// What takes finished messages.
class message_sender {
 public:
  /// Takes the buffer over.
  virtual void send(int pe, message_pool::number message) = 0;
  /// Whether it is better to send several messages together, later.
  [[nodiscard]] virtual bool collects() = 0;

 protected:
  ~message_sender() = default;
};

/// Records go into an open message until it is full or flushed. Those of commands are refused when the window is shut
/// and a message is full; replies never are: how many there can be is up to those who asked.
///
/// What is to be acknowledged waits for a message that goes that way anyhow, an answer perhaps, but not where somebody
/// on the other side waits for it, nor until a quarter of the window is filled, nor for long.
class send_queue {
 public:
  send_queue(int pe, message_pool& pool, message_sender& sender) : pe_(pe), pool_(pool), sender_(sender) {}

  /// Whether a record of so many bytes can be appended now, on behalf of a command. May send.
  [[nodiscard]] bool reserve(std::size_t bytes);
  /// Makes room for a reply. Sends nothing.
  void reserve_reply(std::size_t bytes);
  /// Appends a record, after one of the two; returns where its payload goes.
  template <class... Parts>
  std::byte* append(const record_header& head, std::size_t payload, const Parts&... parts) {
    std::byte* at = pool_.extend(open_, sizeof head + (std::size_t{0} + ... + sizeof(Parts)) + padded(payload));
    const auto put = [&at](const auto& part) {
      std::memcpy(at, &part, sizeof part);
      at += sizeof part;
    };
    put(head);
    (put(parts), ...);
    return at;
  }

  /// The number of the message that the last record travels in.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return last_; }
  /// Somebody waits until messages up to this one have taken effect: the next flush() sees to it that the other side
  /// knows.
  void await(std::uint64_t sequence) noexcept { awaited_ = std::max(awaited_, sequence); }
  /// Sends what the window allows. @param acknowledged what messages may say of the other direction; if no message goes
  /// that says it, or that says what is awaited, one of its own does when it is time. Returns whether that happened.
  bool flush(std::uint64_t acknowledged);
  /// The other side says so. Whether that can be.
  [[nodiscard]] bool acknowledge(std::uint64_t sequence) noexcept;
  /// Somebody on the other side waits for acknowledgements up to this one.
  void hurry(std::uint64_t sequence) noexcept { hurried_ = std::max(hurried_, sequence); }

  /// Messages that have not taken effect yet, the open one included.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return last_ - acknowledged_; }
  /// Nothing waits to be sent, and all that was sent has taken effect.
  [[nodiscard]] bool quiet() const noexcept { return acknowledged_ == last_; }
  /// An acknowledgement waits for company.
  [[nodiscard]] bool owes(std::uint64_t acknowledged) const noexcept { return told_ != acknowledged; }
  /// There is something that a flush() would send as soon as the window lets it, or that has waited long enough.
  [[nodiscard]] bool has_work(std::uint64_t acknowledged) const noexcept {
    return open_ != message_pool::none || !closed_.empty() || owes(acknowledged);
  }
  /// Gives all buffers back and sends nothing any more.
  void abandon() noexcept;

 private:
  /// How often flush() leaves an acknowledgement for later. A turn with nothing to do takes some 40 ns: a microsecond
  /// together, in which a kernel that polls has seen what came, and the answer is here.
  static constexpr std::uint32_t flushes_of_patience = 24;

  [[nodiscard]] bool window_open() const noexcept { return sent_ - acknowledged_ < message_window; }
  [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
    return open_ != message_pool::none && pool_.used(open_) + bytes <= pool_.capacity();
  }
  void open();
  void close();
  void send_closed();
  void send(message_pool::number message, std::uint64_t sequence);
  [[nodiscard]] bool must_ask() const noexcept;
  [[nodiscard]] bool must_acknowledge() noexcept;

  const int pe_;
  message_pool& pool_;
  message_sender& sender_;
  message_pool::number open_ = message_pool::none;
  fifo<message_pool::number>
      closed_;              ///< full, in the order of their numbers, the last of which is below the open one's
  std::uint64_t last_ = 0;  ///< number given
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;  ///< by the other side
  std::uint64_t told_ = 0;          ///< what the other side knows that we acknowledge
  std::uint64_t to_acknowledge_ = 0;
  std::uint64_t awaited_ = 0;  ///< somebody here waits for the effects of messages up to this one
  std::uint64_t asked_ = 0;    ///< what the other side knows of that
  std::uint64_t hurried_ = 0;  ///< the same on the other side, as far as it is known here
  std::uint32_t patience_ = flushes_of_patience;
  bool abandoned_ = false;
};

}  // namespace pgas::detail
