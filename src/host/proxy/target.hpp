/// @file
/// The half of a proxy that executes the operations of other PEs on the memory of this PE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/proxy/engine_state.hpp"
#include "host/proxy/wire_format.hpp"

namespace pgas::detail {

/// Validates every operation of a message. If an operation is invalid, this operation and all later operations are
/// refused, and the sender counts as lost.
class target {
 public:
  explicit target(engine_state& state) : state_(state) {}

  /// Executes the operations of a message of PE `from` in their order. Stops at the first invalid operation and returns
  /// the reason why it is invalid. Empty if all operations were valid.
  [[nodiscard]] std::string execute(int from, std::span<const std::byte> ops);
  /// Whether memory has been written since the last call.
  [[nodiscard]] bool take_written() noexcept {
    const bool was = written_;
    written_ = false;
    return was;
  }

 private:
  class cursor;
  [[nodiscard]] std::string execute(int from, const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string put(const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string put_signal(const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string put_strided(const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string atomic(int from, const message_op_header& head, cursor& rest);
  [[nodiscard]] std::string get(int from, const message_op_header& head, cursor& rest, bool strided);
  /// Handles the reply of `from` to a request of this PE.
  [[nodiscard]] std::string reply(int from, const message_op_header& head, cursor& rest);
  /// Appends a reply of the given size to the messages for `pe`. Returns an address for the reply's bytes. The address
  /// is valid until memory_access::complete().
  [[nodiscard]] std::byte* append_reply(int pe, std::uint64_t request, std::uint32_t bytes);
  [[nodiscard]] std::string range_error(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::string blocks_error(const message_op_header& head, const strided_part& blocks) const;
  [[nodiscard]] std::string word_error(std::uint64_t offset, datatype as) const;
  [[nodiscard]] std::byte* address(std::uint64_t offset) const noexcept { return state_.settings.slot + offset; }

  engine_state& state_;
  bool written_ = false;
};

}  // namespace pgas::detail
