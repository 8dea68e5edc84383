// Failures: lost PEs, invalid messages, proxies that are stopped with commands in flight.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <random>
#include <thread>

#include "host/proxy/wire_format.hpp"
#include "pgas/error.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using namespace std::chrono_literals;

/// The longest time to stop a proxy, on a busy machine.
constexpr auto soon = 15s;

template <class F>
void expect_soon(const F& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  EXPECT_LT(std::chrono::steady_clock::now() - start, soon);
}

TEST(proxy_failure, a_lost_pe_is_reported_once_and_no_producer_hangs) {
  proxied_world world(3);
  world.expect_failures();
  const producer ring = world[0].produce();
  const std::vector<std::byte> data = pattern(3'000'000, 1);
  ring.push(put_value(1, 0, 1));
  ring.quiet();
  for (int i = 0; i < 20; ++i) ring.push(put(1, 0, data.data(), data.size()));
  ring.push(put_signal(2, 0, data.data(), 100, 8, 1));
  world.network().cut(1);
  wait_for("the news", [&] { return !world[0].failures().empty() && !world[2].failures().empty(); });
  for (int i = 0; i < 2000; ++i) ring.push(put_value(1 + i % 2, 0, 1));  // the ring has 256 slots
  wait_for("all commands to be taken",
           [&] { return load_acquire(ring.ring().progress->taken) == load_acquire(ring.ring().heads->next); });
  expect_soon([&] { world[0].proxy().stop(1s); });
  for (const int pe : {0, 2}) {
    ASSERT_EQ(world[pe].failures().size(), 1u);
    EXPECT_EQ(world[pe].failures()[0].first, 1);
    EXPECT_NE(world[pe].failures()[0].second, "");
  }
}

TEST(proxy_failure, a_pe_is_lost_after_some_operations) {
  for (std::uint64_t after = 0; after < 12; ++after) {
    const auto network = std::make_shared<loopback_network>(2);
    faulty_settings faults;
    faults.seed = static_cast<std::uint32_t>(after + 1);
    faults.victim = 1;
    faults.fail_after = after;
    proxied_pe first(0, 2, 1 << 20, std::make_unique<faulty_transport>(network->join(0), faults), variants[0], {});
    proxied_pe second(1, 2, 1 << 20, network->join(1), variants[0], {});
    const std::vector<blob> addresses = {first.proxy().address(), second.proxy().address()};
    first.proxy().connect(addresses);
    second.proxy().connect(addresses);
    first.proxy().add_peer_memory(1, 0, 1 << 20, second.proxy().expose(0, second.slot(), 1 << 20));
    first.proxy().add_ring(first.ring().consumer());
    const producer ring = first.produce();
    const std::vector<std::byte> data = pattern(1 << 20, 1);
    std::vector<std::byte> here(1 << 20);
    for (int i = 0; i < 50; ++i) {
      ring.push(put_signal(1, 64, data.data(), 100'000, 8, 1));
      ring.push(add(1, 16, 1));
      // The get reads bytes that the puts do not write, because there is no quiet between the puts and the get.
      ring.push(get(1, here.data(), 1 << 18, 1000));
      ring.push(get(1, here.data(), 1 << 19, 500'000));
      ring.push(make(detail::command_kind::fence, 1));
    }
    wait_for("the loss", [&] { return !first.failures().empty(); });
    EXPECT_EQ(first.failures().front().first, 1);
    expect_soon([&] {
      first.proxy().stop(100ms);
      second.proxy().stop(100ms);
    });
    EXPECT_EQ(first.failures().size(), 1u);
  }
}

/// PE 0 is a proxy, PE 1 a bare transport that sends arbitrary messages.
class scripted_peer : public ::testing::Test, private detail::transport_events {
 protected:
  void message(int, std::span<const std::byte> bytes) override {
    std::memcpy(&last_, bytes.data(), sizeof last_);
    ++messages_;
  }
  void done(detail::transport_token) override {}
  void lost(int, const std::string&) override {}

  scripted_peer() {
    const std::vector<blob> addresses = {pe_.proxy().address(), bare_->address()};
    pe_.proxy().connect(addresses);
    bare_->connect(addresses, *this);
    pe_.proxy().add_ring(pe_.ring().consumer());
  }
  ~scripted_peer() override {
    expect_soon([&] { pe_.proxy().stop(500ms); });
    bare_->disconnect(1s);
  }

  void send(std::span<const std::byte> bytes) {
    sent_.emplace_back(bytes.begin(), bytes.end());
    bare_->send(0, sent_.back(), ++tokens_);
  }
  /// Sends a message with the operations `ops`.
  void send(std::uint64_t sequence, std::uint64_t acknowledged, std::span<const std::byte> ops = {},
            std::uint64_t awaited = 0) {
    const detail::message_header head{sequence, acknowledged, awaited,
                                      static_cast<std::uint32_t>(sizeof(detail::message_header) + ops.size())};
    std::vector<std::byte> bytes(head.bytes);
    std::memcpy(bytes.data(), &head, sizeof head);
    if (!ops.empty()) std::memcpy(bytes.data() + sizeof head, ops.data(), ops.size());
    send(bytes);
  }
  void expect_refusal() {
    wait_for("a refusal", [&] {
      bare_->progress();
      return !pe_.failures().empty();
    });
    EXPECT_EQ(pe_.failures()[0].first, 1);
    send(1, 0);  // the message is ignored
    send(std::vector<std::byte>(5));
    const producer ring = pe_.produce();
    ring.push(put_value(0, 0, 1));
    wait_for("the command to be taken", [&] { return load_acquire(ring.ring().progress->taken) > 0; });
    EXPECT_EQ(pe_.failures().size(), 1u);
  }

  std::shared_ptr<loopback_network> network_ = std::make_shared<loopback_network>(2);
  proxied_pe pe_{0, 2, 1 << 16, network_->join(0), variants[0], {}};
  std::unique_ptr<detail::transport> bare_ = network_->join(1);
  detail::message_header last_{};
  int messages_ = 0;

 private:
  detail::transport_token tokens_ = 0;
  std::deque<std::vector<std::byte>> sent_;  ///< the transport reads these messages later
};

TEST_F(scripted_peer, is_served_if_its_messages_are_valid) {
  detail::message_op_header put{detail::message_op_kind::put, {}, {}, 0, 8, 64};
  std::vector<std::byte> ops(24);
  std::memcpy(ops.data(), &put, sizeof put);
  ops[16] = std::byte{42};
  send(2, 0, ops);  // arrives out of order
  send(1, 0, ops);
  wait_for("an acknowledgement", [&] {
    bare_->progress();
    return last_.acknowledged == 2;
  });
  EXPECT_EQ(pe_.slot()[64], std::byte{42});
  EXPECT_TRUE(pe_.failures().empty());
}

TEST_F(scripted_peer, with_a_message_that_is_too_short_is_refused) {
  send(std::vector<std::byte>(10));
  expect_refusal();
}

TEST_F(scripted_peer, with_an_invalid_header_is_refused) {
  send(std::vector<std::byte>(100, std::byte{0x11}));
  expect_refusal();
}

TEST_F(scripted_peer, that_acknowledges_a_message_that_was_never_sent_is_refused) {
  send(0, 1);
  expect_refusal();
}

TEST_F(scripted_peer, that_sends_a_message_twice_is_refused) {
  send(1, 0);
  send(1, 0);
  expect_refusal();
}

TEST_F(scripted_peer, that_sends_beyond_its_window_is_refused) {
  send(detail::message_window + 1, 0);
  expect_refusal();
}

TEST_F(scripted_peer, that_requests_an_impossible_acknowledgement_is_refused) {
  send(0, 0, {}, detail::message_window);  // the last number of the window
  send(0, 0, {}, detail::message_window + 1);
  expect_refusal();
}

TEST_F(scripted_peer, that_adds_operations_to_an_acknowledgement_is_refused) {
  send(0, 0, std::vector<std::byte>(16));
  expect_refusal();
}

TEST_F(scripted_peer, with_an_invalid_operation_is_refused) {
  send(1, 0, std::vector<std::byte>(16, std::byte{0xff}));
  expect_refusal();
}

TEST_F(scripted_peer, that_replies_without_a_request_is_refused) {
  detail::message_op_header reply{detail::message_op_kind::reply, {}, {}, 0, 0, 1};
  send(1, 0, {reinterpret_cast<const std::byte*>(&reply), sizeof reply});
  expect_refusal();
}

TEST_F(scripted_peer, that_is_silent_does_not_keep_the_proxy_from_stopping) {
  const std::vector<std::byte> data = pattern(200'000, 1);
  std::vector<std::byte> here(1000);
  const producer ring = pe_.produce();
  for (int i = 0; i < 300; ++i) {
    ring.push(put(1, 0, data.data(), i % 10 == 0 ? data.size() : 5000));
    ring.push(get(1, here.data(), 0, 1000));
    if (load_acquire(ring.ring().progress->taken) + 100 < load_acquire(ring.ring().heads->next)) break;
  }
  expect_soon([&] { pe_.proxy().stop(1s); });
  EXPECT_TRUE(pe_.failures().empty());
}

TEST_F(scripted_peer, that_sends_random_messages_does_no_harm) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    detail::message_header head{random() % 3 + 1, random() % 2, random() % 3, 0};
    std::vector<std::byte> bytes(sizeof head + random() % 300 / 8 * 8);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    head.bytes = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    send(bytes);
  }
  expect_refusal();
}

/// Memory whose device has failed.
class broken_memory final : public detail::memory_access {
 public:
  void write(void*, const void*, const detail::block_list&) override { fail(); }
  void read(void*, const void*, const detail::block_list&) override { fail(); }
  void update(const detail::batched_atomic&, std::byte*) override { fail(); }
  void complete() override {}
  [[nodiscard]] bool pending() const noexcept override { return false; }
  [[nodiscard]] bool host_accessible() const noexcept override { return true; }

 private:
  [[noreturn]] static void fail() { throw error(code::device_failed, "the device has left"); }
};

TEST(proxy_failure, a_device_that_fails_ends_the_world_but_not_the_process) {
  const auto network = std::make_shared<loopback_network>(1);
  broken_memory memory;
  log::logger log(log_level::warn);
  detail::host_ring ring(4, 2);
  std::atomic<int> failures = 0;
  detail::proxy_settings settings;
  settings.contains = [](std::uint64_t, std::uint64_t) { return true; };
  settings.failed = [&](int pe, const std::string& what) {
    EXPECT_EQ(pe, 0);
    EXPECT_NE(what.find("the device has left"), std::string::npos) << what;
    ++failures;
  };
  detail::proxy_thread proxy(settings, network->join(0), memory, log);
  proxy.connect({proxy.address()});
  proxy.add_ring(ring.consumer());
  const producer mine(ring.producers());
  std::uint64_t word = 0;
  mine.push(put(0, 0, &word, 8));
  wait_for("the failure", [&] { return failures == 1; });
  proxy.remove_ring(ring.consumer());
  proxy.remove_memory(0);
  proxy.wake();
  expect_soon([&] { proxy.stop(1s); });
  EXPECT_EQ(failures, 1);
}

TEST(proxy_failure, calls_after_the_end_are_harmless) {
  proxied_world world(2);
  detail::host_ring more(3, 1);
  world[0].proxy().add_ring(more.consumer());
  world[0].proxy().stop(1s);
  world[0].proxy().stop(1s);
  world[0].proxy().remove_ring(more.consumer());
  world[0].proxy().remove_memory(0);
  world[0].proxy().wake();
  EXPECT_THROW(world[0].proxy().add_peer_memory(2, 0, 8, {}), error);
}

TEST(proxy_failure, one_that_was_never_connected_is_destroyed) {
  const auto network = std::make_shared<loopback_network>(1);
  proxied_pe alone(0, 1, 4096, network->join(0), variants[0], {});
}

TEST(proxy_failure, a_malformed_key_is_an_error_of_the_caller) {
  proxied_world world(2, {.name = "no keys", .keys = false});
  const blob nonsense(7, std::byte{3});
  EXPECT_THROW(world[0].proxy().add_peer_memory(1, 0, 4096, nonsense), error);
  world[0].proxy().add_peer_memory(1, 0, 4096, {});
  const producer ring = world[0].produce();
  ring.push(put_value(1, 0, 3));
  ring.quiet();
  EXPECT_EQ(world[1].word(0), 3u);
}

}  // namespace
}  // namespace pgas::testing
