#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/proxy/progress_engine.hpp"
#include "unit/proxy/idle_transport.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using detail::atomic_part;
using detail::atomic_update;
using detail::datatype;
using detail::message_op_header;
using detail::message_op_kind;
using detail::request_part;
using detail::signal_part;
using detail::strided_part;

constexpr std::size_t slot_bytes = 1024;
constexpr std::size_t payload = 256;
constexpr std::size_t message_bytes = payload + sizeof(detail::message_header) + detail::message_op_overhead;
constexpr int peer = 3;

/// A transport that collects messages.
class collecting_transport final : public idle_transport {
 public:
  std::vector<std::pair<int, blob>> sent;

  void send(int pe, std::span<const std::byte> message, detail::transport_token) override {
    sent.emplace_back(pe, blob(message.begin(), message.end()));
  }
  [[nodiscard]] std::size_t max_message() const noexcept override { return message_bytes; }
};

/// A target whose slot lies between two guard areas, and messages of PE 3.
class targets : public ::testing::Test {
 protected:
  [[nodiscard]] std::string execute(const std::vector<std::byte>& ops) { return target_.execute(peer, ops); }
  /// Adds a request to PE 3 for 10 bytes. Returns its key.
  [[nodiscard]] std::uint64_t add_request() {
    const std::uint64_t key = state_.requests.take();
    state_.requests[key] = {&op_, peer, nullptr, {}, 10};
    return key;
  }
  /// The number of replies so far, all to PE 3.
  [[nodiscard]] std::size_t replies() {
    static_cast<void>(state_.to(peer).out.flush(0));
    std::size_t count = 0;
    for (const auto& [pe, message] : network_.sent) {
      EXPECT_EQ(pe, peer);
      for (std::size_t at = sizeof(detail::message_header); at < message.size();) {
        message_op_header head;
        std::memcpy(&head, message.data() + at, sizeof head);
        EXPECT_EQ(head.kind, message_op_kind::reply);
        at += sizeof head + detail::padded(head.bytes);
        ++count;
      }
    }
    return count;
  }
  [[nodiscard]] bool guards_are_intact() const {
    const auto zero = [](std::byte b) { return b == std::byte{0}; };
    return std::all_of(memory_.begin(), memory_.begin() + slot_bytes, zero) &&
           std::all_of(memory_.begin() + 2 * slot_bytes, memory_.end(), zero);
  }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(3 * slot_bytes);
  detail::proxy_settings settings_{
      0, peer + 1, memory_.data() + slot_bytes,
      [](std::uint64_t offset, std::uint64_t bytes) { return offset <= slot_bytes && bytes <= slot_bytes - offset; },
      [](int, const std::string&) {}};
  std::unique_ptr<detail::memory_access> host_ = detail::make_host_memory_access();
  collecting_transport network_;
  detail::proxy_op op_;
  detail::engine_state state_{settings_, network_, *host_, message_bytes};
  detail::target target_{state_};
};

template <class... Parts>
[[nodiscard]] std::vector<std::byte> message_op(const message_op_header& head, std::size_t payload_bytes,
                                                const Parts&... parts) {
  std::vector<std::byte> result;
  const auto append = [&result](const auto& part) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&part);
    result.insert(result.end(), bytes, bytes + sizeof part);
  };
  append(head);
  (append(parts), ...);
  result.resize(result.size() + detail::padded(payload_bytes), std::byte{0x77});
  return result;
}
[[nodiscard]] message_op_header head_of(message_op_kind kind, std::uint64_t offset, std::uint32_t bytes) {
  return {kind, atomic_update::add, datatype::u64, 0, bytes, offset};
}

[[nodiscard]] std::vector<std::vector<std::byte>> good_ops(std::uint64_t request) {
  return {message_op(head_of(message_op_kind::put, 1000, 24), 24),
          message_op(head_of(message_op_kind::put_signal, 8, 5), 5, signal_part{1016, 1}),
          message_op(head_of(message_op_kind::put_signal, ~std::uint64_t{0}, 0), 0, signal_part{0, 1}),
          message_op(head_of(message_op_kind::put_strided, 1000, 8), 24, strided_part{3, -40}),
          message_op(head_of(message_op_kind::atomic, 1016, 0), 0, atomic_part{1, 1, 1}),
          message_op(head_of(message_op_kind::get, 0, 256), 0, request_part{9}),
          message_op(head_of(message_op_kind::get_strided, 1023, 1), 0, request_part{9}, strided_part{200, -5}),
          message_op(head_of(message_op_kind::reply, request, 10), 10)};
}

TEST_F(targets, valid_operations_are_executed) {
  for (const std::vector<std::byte>& each : good_ops(add_request())) EXPECT_EQ(execute(each), "");
  EXPECT_EQ(replies(), 3u);
  std::vector<std::byte> all;
  for (const std::vector<std::byte>& each : good_ops(add_request())) all.insert(all.end(), each.begin(), each.end());
  EXPECT_EQ(execute(all), "");
  EXPECT_EQ(replies(), 6u);
  EXPECT_TRUE(guards_are_intact());
}

TEST_F(targets, truncated_operations_are_refused) {
  for (const std::vector<std::byte>& each : good_ops(add_request())) {
    for (std::size_t bytes = 1; bytes < each.size(); ++bytes) {
      EXPECT_NE(execute({each.begin(), each.begin() + static_cast<std::ptrdiff_t>(bytes)}), "") << bytes;
    }
  }
}

TEST_F(targets, operations_outside_of_this_pes_memory_are_refused) {
  constexpr std::uint64_t overflowing = ~std::uint64_t{0} - 7;
  const std::vector<std::byte> bad[] = {
      message_op(head_of(message_op_kind::put, 1001, 24), 24),
      message_op(head_of(message_op_kind::put, overflowing, 24), 24),
      message_op(head_of(message_op_kind::put_signal, 1001, 24), 24, signal_part{0, 1}),
      message_op(head_of(message_op_kind::put_signal, 0, 24), 24, signal_part{1024, 1}),
      message_op(head_of(message_op_kind::put_strided, 1000, 8), 24, strided_part{3, 24}),
      message_op(head_of(message_op_kind::put_strided, 8, 8), 24, strided_part{3, -24}),
      message_op(head_of(message_op_kind::put_strided, 8, 8), 24, strided_part{3, INT64_MIN}),
      message_op(head_of(message_op_kind::put_strided, 8, 8), 24, strided_part{3, INT64_MAX}),
      message_op(head_of(message_op_kind::put_strided, overflowing, 8), 16, strided_part{2, 8}),
      message_op(head_of(message_op_kind::atomic, 1024, 0), 0, atomic_part{0, 1, 1}),
      message_op(head_of(message_op_kind::get, 1020, 8), 0, request_part{1}),
      message_op(head_of(message_op_kind::get_strided, 1000, 8), 0, request_part{1}, strided_part{2, 1 << 20})};
  for (const std::vector<std::byte>& each : bad) {
    const std::string wrong = execute(each);
    EXPECT_NE(wrong, "");
    EXPECT_NE(wrong.find("heap"), std::string::npos) << wrong;
  }
  EXPECT_EQ(replies(), 0u);
  EXPECT_TRUE(guards_are_intact());
}

TEST_F(targets, invalid_operations_are_refused) {
  const auto atomic = [](atomic_update update, datatype as, std::uint64_t offset) {
    return message_op({message_op_kind::atomic, update, as, 0, 0, offset}, 0, atomic_part{0, 1, 1});
  };
  message_op_header signal = head_of(message_op_kind::put_signal, 0, 8);
  signal.update = atomic_update::swap;
  const std::vector<std::byte> bad[] = {
      message_op(head_of(static_cast<message_op_kind>(0), 0, 8), 8),
      message_op(head_of(static_cast<message_op_kind>(99), 0, 8), 8),
      atomic(static_cast<atomic_update>(99), datatype::u64, 0),
      atomic(atomic_update::add, static_cast<datatype>(99), 0),
      atomic(atomic_update::add, datatype::i16, 0),
      atomic(atomic_update::add, datatype::u64, 4),
      atomic(atomic_update::add, datatype::f16, 1),
      message_op(signal, 8, signal_part{8, 1}),
      message_op(head_of(message_op_kind::put_signal, 0, 8), 8, signal_part{12, 1}),
      message_op(head_of(message_op_kind::put_strided, 0, 0), 0, strided_part{3, 8}),
      message_op(head_of(message_op_kind::put_strided, 0, 8), 0, strided_part{0, 8}),
      message_op(head_of(message_op_kind::get, 0, 257), 0, request_part{1}),
      message_op(head_of(message_op_kind::get_strided, 0, 8), 0, request_part{1}, strided_part{33, 8}),
      message_op(head_of(message_op_kind::get_strided, 0, 8), 0, request_part{1}, strided_part{~std::uint64_t{0}, 8}),
      message_op(head_of(message_op_kind::reply, 6, 10), 10)};
  for (std::size_t i = 0; i < std::size(bad); ++i) EXPECT_NE(execute(bad[i]), "") << i;
  EXPECT_EQ(replies(), 0u);
}

TEST_F(targets, random_bytes_do_no_harm) {
  std::mt19937 random(20);
  const std::vector<std::vector<std::byte>> good = good_ops(add_request());
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes;
    if (round % 4 == 0) {
      bytes.resize(random() % 200);
      for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    } else {  // the bytes are valid messages with a few changes
      for (int i = 0; i < 3; ++i) {
        const auto& next = good[random() % good.size()];
        bytes.insert(bytes.end(), next.begin(), next.end());
      }
      for (unsigned i = 0; i < 1 + random() % 3; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      if (round % 5 == 0) bytes.resize(random() % bytes.size());
    }
    refused += execute(bytes).empty() ? 0u : 1u;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_TRUE(guards_are_intact());
}

}  // namespace
}  // namespace pgas::testing
