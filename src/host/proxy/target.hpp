/// @file
/// The receiving end: carries out what records of other PEs ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/proxy/local_memory.hpp"
#include "host/proxy/message_format.hpp"
#include "host/proxy/settings.hpp"

namespace pgas::detail {

/// What a target hands back to the engine.
class target_events {
 public:
  /// Appends a reply of so many bytes to the messages for `pe`; returns where they go, until the memory is completed.
  virtual std::byte* reply(int pe, std::uint64_t request, std::uint32_t bytes) = 0;
  /// A reply of `pe` to this PE. Whether it was waited for.
  [[nodiscard]] virtual bool replied(int pe, std::uint64_t request, std::span<const std::byte> bytes) = 0;

 protected:
  ~target_events() = default;
};

class target {
 public:
  /// @param payload the most that a record may carry
  target(const proxy_settings& settings, proxy_memory& memory, target_events& events, std::size_t payload)
      : settings_(settings), memory_(memory), events_(events), payload_(payload) {}

  /// Carries out the records of a message of PE `from`, one after another. Returns what is wrong with the first that
  /// makes no sense; nothing of that one and of later ones is carried out. Empty: all is well.
  [[nodiscard]] std::string execute_operation(int from, std::span<const std::byte> records);
  /// Whether memory was written that nobody has completed; asking resets it.
  [[nodiscard]] bool has_written() noexcept {
    const bool was = wrote_;
    wrote_ = false;
    return was;
  }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

 private:
  class cursor;
  [[nodiscard]] std::string execute_operation(int from, const record_header& head, cursor& rest);
  [[nodiscard]] std::string put(const record_header& head, cursor& rest);
  [[nodiscard]] std::string put_signal(const record_header& head, cursor& rest);
  [[nodiscard]] std::string put_strided(const record_header& head, cursor& rest);
  [[nodiscard]] std::string atomic(int from, const record_header& head, cursor& rest);
  [[nodiscard]] std::string get(int from, const record_header& head, cursor& rest, bool strided);
  [[nodiscard]] std::string range_error(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::string blocks_error(const record_header& head, const strided_part& blocks) const;
  [[nodiscard]] std::string word_error(std::uint64_t offset, datatype as) const;
  [[nodiscard]] std::byte* address(std::uint64_t offset) const noexcept { return settings_.slot + offset; }

  const proxy_settings& settings_;
  proxy_memory& memory_;
  target_events& events_;
  const std::size_t payload_;
  bool wrote_ = false;
  std::uint64_t records_ = 0;
};

}  // namespace pgas::detail
