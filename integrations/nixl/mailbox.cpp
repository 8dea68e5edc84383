#include "mailbox.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>

#include "pgas/error.hpp"

namespace pgas::nixl {

/// The start of a mailbox. The ring of messages follows.
struct mailbox_page {
  pthread_mutex_t lock;  ///< held by a sender; if the sender's process ends, the next sender gets the lock
  alignas(64) std::atomic<std::uint64_t> end;    ///< the number of bytes that senders have ever written
  alignas(64) std::atomic<std::uint64_t> begin;  ///< the number of bytes that the receiver has taken
};

namespace {

constexpr std::size_t mailbox_bytes = std::size_t{2} << 20;
constexpr std::size_t ring_bytes = mailbox_bytes - sizeof(mailbox_page);
constexpr std::time_t longest_lock_seconds = 10;  // a sender holds the lock while it copies a message

/// A message: this header, the sender's name, the text.
struct message_header {
  std::uint64_t sender_bytes;
  std::uint64_t text_bytes;
};

std::byte* ring(mailbox_page* page) { return reinterpret_cast<std::byte*>(page) + sizeof(mailbox_page); }

/// Copies bytes into the ring, from position `at` on. @return the position after these bytes
std::uint64_t put(mailbox_page* page, std::uint64_t at, const void* from, std::size_t bytes) {
  const std::size_t start = at % ring_bytes;
  const std::size_t first = std::min(bytes, ring_bytes - start);
  if (bytes > 0) {
    std::memcpy(ring(page) + start, from, first);
    std::memcpy(ring(page), static_cast<const std::byte*>(from) + first, bytes - first);
  }
  return at + bytes;
}

/// Copies bytes out of the ring. @return the position after these bytes
std::uint64_t get(mailbox_page* page, std::uint64_t at, void* to, std::size_t bytes) {
  const std::size_t start = at % ring_bytes;
  const std::size_t first = std::min(bytes, ring_bytes - start);
  if (bytes > 0) {
    std::memcpy(to, ring(page) + start, first);
    std::memcpy(static_cast<std::byte*>(to) + first, ring(page), bytes - first);
  }
  return at + bytes;
}

/// The lock of the senders of a mailbox.
class sender_lock {
 public:
  explicit sender_lock(mailbox_page& page) : page_(page) {
    timespec limit{};
    ::clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += longest_lock_seconds;
    int result = ::pthread_mutex_timedlock(&page_.lock, &limit);
    // The process ended while it held the lock, before it moved the end of the ring. The ring therefore does not
    // contain the message of this process.
    if (result == EOWNERDEAD) result = ::pthread_mutex_consistent(&page_.lock);
    if (result == ETIMEDOUT)
      throw error(code::wait_timeout, "another sender has held the lock of the other agent's mailbox for " +
                                          std::to_string(longest_lock_seconds) + " s");
    if (result != 0)
      throw error(code::system, std::string("locking the mailbox of the other agent: ") + std::strerror(result));
  }
  ~sender_lock() { ::pthread_mutex_unlock(&page_.lock); }
  sender_lock(const sender_lock&) = delete;
  sender_lock& operator=(const sender_lock&) = delete;

 private:
  mailbox_page& page_;
};

}  // namespace

mailbox::mailbox()
    : memory_(shared_memory::make(memory_place::host(), mailbox_bytes)), page_(new (memory_.data()) mailbox_page{}) {
  pthread_mutexattr_t kind;
  ::pthread_mutexattr_init(&kind);
  ::pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  const int result = ::pthread_mutex_init(&page_->lock, &kind);
  ::pthread_mutexattr_destroy(&kind);
  if (result != 0) throw error(code::system, std::string("making a lock between processes: ") + std::strerror(result));
  ticket_ = memory_.ticket();
}

std::optional<std::pair<std::string, std::string>> mailbox::take() {
  const std::uint64_t begin = page_->begin.load(std::memory_order_relaxed);
  const std::uint64_t available = page_->end.load(std::memory_order_acquire) - begin;
  if (available == 0) return std::nullopt;
  message_header header{};
  std::uint64_t at = 0;
  if (available >= sizeof(header) && available <= ring_bytes) at = get(page_, begin, &header, sizeof(header));
  const std::uint64_t rest = available - sizeof(header);
  if (at == 0 || header.sender_bytes > rest || header.text_bytes > rest - header.sender_bytes)
    throw error(code::transport_failed, "a sender has damaged the mailbox of this agent");
  std::pair<std::string, std::string> message;
  message.first.resize(header.sender_bytes);
  message.second.resize(header.text_bytes);
  at = get(page_, at, message.first.data(), message.first.size());
  at = get(page_, at, message.second.data(), message.second.size());
  page_->begin.store(at, std::memory_order_release);
  return message;
}

remote_mailbox::remote_mailbox(std::string_view ticket)
    : memory_(opened_memory::open(ticket, {.place = memory_place::host()})),
      page_(static_cast<mailbox_page*>(memory_.data())) {
  if (memory_.size() != mailbox_bytes)
    throw error(code::version_mismatch,
                "the mailbox of the other agent has another size: use the same version of pgas");
}

bool remote_mailbox::post(std::string_view sender, std::string_view text) {
  const message_header header{sender.size(), text.size()};
  const std::size_t bytes = sizeof(header) + sender.size() + text.size();
  if (bytes > ring_bytes)
    throw error(code::invalid_argument, "a notification of " + std::to_string(text.size()) +
                                            " bytes is larger than a mailbox of " + std::to_string(ring_bytes) +
                                            " bytes");
  const sender_lock lock(*page_);
  std::uint64_t at = page_->end.load(std::memory_order_relaxed);
  if (ring_bytes - (at - page_->begin.load(std::memory_order_acquire)) < bytes) return false;
  at = put(page_, at, &header, sizeof(header));
  at = put(page_, at, sender.data(), sender.size());
  at = put(page_, at, text.data(), text.size());
  page_->end.store(at, std::memory_order_release);
  return true;
}

}  // namespace pgas::nixl
