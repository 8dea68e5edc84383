#include "host/proxy/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using detail::atomic_part;
using detail::atomic_update;
using detail::datatype;
using detail::record_header;
using detail::record_kind;
using detail::request_part;
using detail::signal_part;
using detail::strided_part;

constexpr std::size_t slot_bytes = 1024;
constexpr std::size_t payload = 256;

/// A target with a slot between two guards.
class targets : public ::testing::Test, private detail::target_events {
 protected:
  targets() {
    settings_.slot = memory_.data() + slot_bytes;
    settings_.contains = [](std::uint64_t offset, std::uint64_t bytes) {
      return offset <= slot_bytes && bytes <= slot_bytes - offset;
    };
  }

  [[nodiscard]] std::string execute_operation(const std::vector<std::byte>& records) {
    return target_.execute_operation(3, records);
  }
  [[nodiscard]] bool guards_are_intact() const {
    const auto zero = [](std::byte b) { return b == std::byte{0}; };
    return std::all_of(memory_.begin(), memory_.begin() + slot_bytes, zero) &&
           std::all_of(memory_.begin() + 2 * slot_bytes, memory_.end(), zero);
  }

  std::size_t replies_ = 0;

 private:
  std::byte* reply(int pe, std::uint64_t, std::uint32_t bytes) override {
    EXPECT_EQ(pe, 3);
    ++replies_;
    reply_.assign(detail::padded(bytes), std::byte{0});
    return reply_.data();
  }
  bool replied(int, std::uint64_t request, std::span<const std::byte>) override { return request == 5; }

  std::vector<std::byte> memory_ = std::vector<std::byte>(3 * slot_bytes);
  std::vector<std::byte> reply_;
  detail::proxy_settings settings_;
  std::unique_ptr<detail::proxy_memory> host_ = detail::make_host_proxy_memory();
  detail::target target_{settings_, *host_, *this, payload};
};

template <class... Parts>
[[nodiscard]] std::vector<std::byte> record(const record_header& head, std::size_t payload_bytes,
                                            const Parts&... parts) {
  std::vector<std::byte> made;
  const auto append = [&made](const auto& part) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&part);
    made.insert(made.end(), bytes, bytes + sizeof part);
  };
  append(head);
  (append(parts), ...);
  made.resize(made.size() + detail::padded(payload_bytes), std::byte{0x77});
  return made;
}
[[nodiscard]] record_header head_of(record_kind kind, std::uint64_t offset, std::uint32_t bytes) {
  return {kind, atomic_update::add, datatype::u64, 0, bytes, offset};
}

[[nodiscard]] std::vector<std::vector<std::byte>> good_records() {
  return {record(head_of(record_kind::put, 1000, 24), 24),
          record(head_of(record_kind::put_signal, 8, 5), 5, signal_part{1016, 1}),
          record(head_of(record_kind::put_signal, ~std::uint64_t{0}, 0), 0, signal_part{0, 1}),
          record(head_of(record_kind::put_strided, 1000, 8), 24, strided_part{3, -40}),
          record(head_of(record_kind::atomic, 1016, 0), 0, atomic_part{1, 1, 1}),
          record(head_of(record_kind::get, 0, 256), 0, request_part{9}),
          record(head_of(record_kind::get_strided, 1023, 1), 0, request_part{9}, strided_part{200, -5}),
          record(head_of(record_kind::reply, 5, 10), 10)};
}

TEST_F(targets, records_that_make_sense_are_carried_out) {
  std::vector<std::byte> all;
  for (const std::vector<std::byte>& each : good_records()) {
    EXPECT_EQ(execute_operation(each), "");
    all.insert(all.end(), each.begin(), each.end());
  }
  EXPECT_EQ(replies_, 3u);
  EXPECT_EQ(execute_operation(all), "");
  EXPECT_TRUE(guards_are_intact());
}

TEST_F(targets, records_that_end_too_early_are_refused) {
  for (const std::vector<std::byte>& each : good_records()) {
    for (std::size_t bytes = 1; bytes < each.size(); ++bytes) {
      EXPECT_NE(execute_operation({each.begin(), each.begin() + static_cast<std::ptrdiff_t>(bytes)}), "") << bytes;
    }
  }
}

TEST_F(targets, what_lies_outside_this_pes_memory_is_refused) {
  constexpr std::uint64_t far = ~std::uint64_t{0} - 7;
  const std::vector<std::byte> bad[] = {
      record(head_of(record_kind::put, 1001, 24), 24),
      record(head_of(record_kind::put, far, 24), 24),
      record(head_of(record_kind::put_signal, 1001, 24), 24, signal_part{0, 1}),
      record(head_of(record_kind::put_signal, 0, 24), 24, signal_part{1024, 1}),
      record(head_of(record_kind::put_strided, 1000, 8), 24, strided_part{3, 24}),
      record(head_of(record_kind::put_strided, 8, 8), 24, strided_part{3, -24}),
      record(head_of(record_kind::put_strided, 8, 8), 24, strided_part{3, INT64_MIN}),
      record(head_of(record_kind::put_strided, 8, 8), 24, strided_part{3, INT64_MAX}),
      record(head_of(record_kind::put_strided, far, 8), 16, strided_part{2, 8}),
      record(head_of(record_kind::atomic, 1024, 0), 0, atomic_part{0, 1, 1}),
      record(head_of(record_kind::get, 1020, 8), 0, request_part{1}),
      record(head_of(record_kind::get_strided, 1000, 8), 0, request_part{1}, strided_part{2, 1 << 20})};
  for (const std::vector<std::byte>& each : bad) {
    const std::string wrong = execute_operation(each);
    EXPECT_NE(wrong, "");
    EXPECT_NE(wrong.find("heap"), std::string::npos) << wrong;
  }
  EXPECT_EQ(replies_, 0u);
  EXPECT_TRUE(guards_are_intact());
}

TEST_F(targets, what_makes_no_sense_is_refused) {
  const auto atomic = [](atomic_update update, datatype as, std::uint64_t offset) {
    return record({record_kind::atomic, update, as, 0, 0, offset}, 0, atomic_part{0, 1, 1});
  };
  record_header signal = head_of(record_kind::put_signal, 0, 8);
  signal.update = atomic_update::swap;
  const std::vector<std::byte> bad[] = {
      record(head_of(static_cast<record_kind>(0), 0, 8), 8),
      record(head_of(static_cast<record_kind>(99), 0, 8), 8),
      atomic(static_cast<atomic_update>(99), datatype::u64, 0),
      atomic(atomic_update::add, static_cast<datatype>(99), 0),
      atomic(atomic_update::add, datatype::i16, 0),
      atomic(atomic_update::add, datatype::u64, 4),
      atomic(atomic_update::add, datatype::f16, 1),
      record(signal, 8, signal_part{8, 1}),
      record(head_of(record_kind::put_signal, 0, 8), 8, signal_part{12, 1}),
      record(head_of(record_kind::put_strided, 0, 0), 0, strided_part{3, 8}),
      record(head_of(record_kind::put_strided, 0, 8), 0, strided_part{0, 8}),
      record(head_of(record_kind::get, 0, 257), 0, request_part{1}),
      record(head_of(record_kind::get_strided, 0, 8), 0, request_part{1}, strided_part{33, 8}),
      record(head_of(record_kind::get_strided, 0, 8), 0, request_part{1}, strided_part{~std::uint64_t{0}, 8}),
      record(head_of(record_kind::reply, 6, 10), 10)};
  for (std::size_t i = 0; i < std::size(bad); ++i) EXPECT_NE(execute_operation(bad[i]), "") << i;
  EXPECT_EQ(replies_, 0u);
}

TEST_F(targets, no_bytes_whatever_do_harm) {
  std::mt19937 random(20);
  const std::vector<std::vector<std::byte>> good = good_records();
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes;
    if (round % 4 == 0) {
      bytes.resize(random() % 200);
      for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    } else {  // good ones with a few changes
      for (int i = 0; i < 3; ++i) {
        const auto& next = good[random() % good.size()];
        bytes.insert(bytes.end(), next.begin(), next.end());
      }
      for (unsigned i = 0; i < 1 + random() % 3; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      if (round % 5 == 0) bytes.resize(random() % bytes.size());
    }
    refused += execute_operation(bytes).empty() ? 0u : 1u;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_TRUE(guards_are_intact());
}

}  // namespace
}  // namespace pgas::testing
