// The engine turn by turn, on one thread: how much goes where, in how many rounds.
#include "host/proxy/engine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "host/proxy/records.hpp"
#include "host/transport/loopback/network.hpp"
#include "unit/proxy/lazy_device.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

constexpr std::size_t slot_bytes = std::size_t{4} << 20;

/// PEs whose engines take a turn when they are told to.
class stepped_world {
 public:
  explicit stepped_world(int n, bool keys = true, std::uint32_t log2_commands = 11,
                         const detail::pinned_sizes* pinned = nullptr)
      : network_(std::make_shared<detail::loopback_network>(n)) {
    std::vector<blob> addresses;
    for (int me = 0; me < n; ++me) {
      pes_.push_back(std::make_unique<stepped_pe>(me, n, network_->join(me), log2_commands, pinned));
      addresses.push_back(pes_.back()->network->address());
    }
    for (const auto& each : pes_) {
      each->network->connect(addresses, each->engine);
      each->engine.add_ring(each->ring.consumer());
    }
    for (int owner = 0; keys && owner < n; ++owner) {
      stepped_pe& mine = at(owner);
      std::string why_not;
      const auto exposed = mine.network->expose(mine.slot.data(), slot_bytes, why_not);
      for (const auto& each : pes_) each->engine.add_peer_memory(owner, 0, slot_bytes, exposed.value().key);
    }
  }
  ~stepped_world() {
    for (const auto& each : pes_) {
      each->engine.finish();
      each->network->disconnect(std::chrono::seconds(1));
    }
  }
  stepped_world(const stepped_world&) = delete;
  stepped_world& operator=(const stepped_world&) = delete;

  /// Turns of one PE, until its transport has sent what can be sent without the others.
  void send_all(int pe) {
    for (int i = 0; i < 100; ++i) turn(pe);
  }
  bool turn(int pe) { return at(pe).engine.turn(); }
  /// One turn of each PE.
  void round() {
    for (const auto& each : pes_) each->engine.turn();
  }
  /// Rounds until nothing is under way.
  int rounds_to_rest() {
    for (int count = 1; count < 100'000; ++count) {
      round();
      bool idle = true;
      for (const auto& each : pes_) idle = idle && each->engine.idle();
      if (idle) return count;
    }
    ADD_FAILURE() << "it does not come to rest";
    return 0;
  }
  [[nodiscard]] producer produce(int pe) { return producer(at(pe).ring.producers()); }
  [[nodiscard]] std::uint64_t& word(int pe, std::uint64_t offset) { return at(pe).slot[offset / 8]; }
  [[nodiscard]] std::byte* slot(int pe) { return reinterpret_cast<std::byte*>(at(pe).slot.data()); }
  [[nodiscard]] detail::transport& transport(int pe) { return *at(pe).network; }
  [[nodiscard]] detail::proxy_engine& engine(int pe) { return at(pe).engine; }
  [[nodiscard]] lazy_device& device(int pe) { return at(pe).device; }
  [[nodiscard]] int& failures(int pe) { return at(pe).failures; }

 private:
  struct stepped_pe {
    stepped_pe(int me, int n, std::unique_ptr<detail::transport> transport, std::uint32_t log2_commands,
               const detail::pinned_sizes* pinned)
        : slot(slot_bytes / 8),
          settings{me, n, reinterpret_cast<std::byte*>(slot.data()),
                   [](std::uint64_t offset, std::uint64_t bytes) {
                     return offset <= slot_bytes && bytes <= slot_bytes - offset;
                   },
                   [this](int, const std::string&) { ++failures; }},
          ring(log2_commands, 4),
          memory(pinned != nullptr ? detail::make_device_proxy_memory(device, *pinned)
                                   : detail::make_host_proxy_memory()),
          network(std::move(transport)),
          engine(settings, *network, *memory) {}

    std::vector<std::uint64_t> slot;
    int failures = 0;
    detail::proxy_settings settings;
    detail::host_ring ring;
    lazy_device device;
    std::unique_ptr<detail::proxy_memory> memory;
    std::unique_ptr<detail::transport> network;
    detail::proxy_engine engine;
  };
  [[nodiscard]] stepped_pe& at(int number) { return *pes_[static_cast<std::size_t>(number)]; }

  std::shared_ptr<detail::loopback_network> network_;
  std::deque<std::unique_ptr<stepped_pe>> pes_;
};

TEST(proxy_engine, many_values_to_one_pe_take_few_messages) {
  stepped_world world(2);
  const producer ring = world.produce(0);
  for (std::uint64_t i = 0; i < 1000; ++i) ring.push(put_value(1, 8 * i, i + 1));
  world.rounds_to_rest();
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(world.word(1, 8 * i), i + 1);
  EXPECT_LE(world.engine(0).statistics().messages, 5u);
  EXPECT_LE(world.engine(1).statistics().acknowledgements, 5u);
  EXPECT_EQ(world.engine(0).statistics().commands, 1000u);
  EXPECT_EQ(world.engine(1).statistics().records, 1000u);
}

TEST(proxy_engine, fetches_are_answered_together) {
  stepped_world world(2);
  const producer ring = world.produce(0);
  std::vector<std::uint64_t> here(200);
  for (std::uint64_t i = 0; i < 200; ++i) world.word(1, 8 * i) = i;
  for (std::uint64_t i = 0; i < 200; ++i) ring.push(get(1, &here[i], 8 * i, 8));
  world.rounds_to_rest();
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(here[i], i);
  EXPECT_LE(world.engine(0).statistics().messages, 2u);
  EXPECT_LE(world.engine(1).statistics().messages, 2u);
}

TEST(proxy_engine, a_small_put_with_signal_takes_one_message_where_nothing_else_is_under_way) {
  stepped_world world(2);
  const producer ring = world.produce(0);
  const std::vector<std::byte> data = pattern(4000, 1);
  ring.push(put(1, 0, data.data(), 8));  // to the same PE: messages keep the order
  ring.push(put_signal(1, 64, data.data(), data.size(), 8, 1));
  world.send_all(0);
  world.turn(1);
  EXPECT_EQ(world.word(1, 8), 1u);
  EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data(), data.size()), 0);
  EXPECT_EQ(world.engine(0).statistics().messages, 1u);
  EXPECT_EQ(world.engine(1).statistics().records, 2u);
}

TEST(proxy_engine, a_burst_of_puts_with_signals_to_many_pes_goes_out_at_once) {
  constexpr int n = 9;
  constexpr int rounds = 10;
  stepped_world world(n);
  const producer ring = world.produce(0);
  const std::vector<std::byte> data = pattern(20'000, 1);
  for (int i = 0; i < rounds; ++i) {
    for (int pe = 1; pe < n; ++pe) ring.push(put_signal(pe, 64, data.data(), i % 2 == 0 ? 100 : data.size(), 8, 1));
  }
  const int taken = world.rounds_to_rest();
  for (int pe = 1; pe < n; ++pe) {
    EXPECT_EQ(world.word(pe, 8), static_cast<std::uint64_t>(rounds));
    EXPECT_EQ(std::memcmp(world.slot(pe) + 64, data.data(), data.size()), 0);
  }
  EXPECT_LT(taken, rounds * (n - 1) / 2) << "one after another would be a round trip for each";
  EXPECT_LE(world.engine(0).statistics().messages, 4u * (n - 1)) << "those that are due travel together";
}

TEST(proxy_engine, signals_without_data_do_not_wait_for_one_another) {
  constexpr int n = 6;
  stepped_world world(n);
  const producer ring = world.produce(0);
  for (int pe = 1; pe < n; ++pe) ring.push(signal(pe, 8, 1));
  world.send_all(0);
  for (int pe = 1; pe < n; ++pe) {
    world.turn(pe);
    EXPECT_EQ(world.word(pe, 8), 1u);
  }
}

TEST(proxy_engine, a_pe_that_does_not_listen_holds_back_its_sender_but_nobody_else) {
  stepped_world world(3);
  const producer ring = world.produce(0);
  const producer other = world.produce(2);
  const std::vector<std::byte> data = pattern(8000, 1);
  for (int i = 0; i < 1000; ++i) ring.push(put(1, 64, data.data(), data.size()));
  for (int i = 0; i < 1000; ++i) {
    world.turn(0);
    world.turn(2);
  }
  const detail::proxy_statistics stuck = world.engine(0).statistics();
  EXPECT_LE(stuck.messages, detail::message_window);
  EXPECT_LT(stuck.commands, 1000u) << "what can't be sent is not taken";
  EXPECT_LT(load_acquire(ring.ring().progress->taken), 1000u);
  other.push(add(0, 8, 1));  // it still serves others
  const producer::ticket answer = other.ask(get_value(0, 8));
  for (int i = 0; i < 10; ++i) {
    world.turn(0);
    world.turn(2);
  }
  EXPECT_TRUE(other.is_there(answer));
  world.rounds_to_rest();
  EXPECT_EQ(load_acquire(ring.ring().progress->completed), 1000u);
  EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data(), data.size()), 0);
}

TEST(proxy_engine, large_puts_let_small_things_pass) {
  for (const bool keys : {true, false}) {
    stepped_world world(2, keys);
    const producer ring = world.produce(0);
    const std::vector<std::byte> data = pattern(slot_bytes - 4096, 1);
    for (int i = 0; i < 10; ++i) ring.push(put(1, 4096, data.data(), data.size()));
    ring.push(put_value(1, 8, 1));
    int rounds = 0;
    for (; world.word(1, 8) == 0 && rounds < 1000; ++rounds) world.round();
    EXPECT_LT(rounds, world.rounds_to_rest() / 2) << keys;
    EXPECT_EQ(std::memcmp(world.slot(1) + 4096, data.data(), data.size()), 0);
  }
}

TEST(proxy_engine, what_is_large_goes_by_the_transport_where_it_has_a_key) {
  stepped_world with(2, true);
  stepped_world without(2, false);
  const std::vector<std::byte> data = pattern(1'000'000, 1);
  for (stepped_world* const world : {&with, &without}) {
    world->produce(0).push(put(1, 64, data.data(), data.size()));
    world->rounds_to_rest();
    EXPECT_EQ(std::memcmp(world->slot(1) + 64, data.data(), data.size()), 0);
  }
  EXPECT_EQ(with.engine(0).statistics().piece_bytes, data.size());
  EXPECT_EQ(with.engine(0).statistics().messages, 0u);
  EXPECT_EQ(without.engine(0).statistics().pieces, 0u);
  EXPECT_LE(without.engine(0).statistics().messages, 20u);
}

TEST(proxy_engine, memory_that_is_gone_is_reached_by_messages_again) {
  stepped_world world(2);
  const std::vector<std::byte> data = pattern(100'000, 1);
  world.engine(0).remove_peer_memory(0);
  world.produce(0).push(put(1, 64, data.data(), data.size()));
  world.rounds_to_rest();
  EXPECT_EQ(world.engine(0).statistics().pieces, 0u);
  EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data(), data.size()), 0);
}

// ---- memory of a device

constexpr detail::pinned_sizes enough{};
constexpr detail::pinned_sizes little{.staging_bytes = 500, .updates = 3, .buffer_bytes = 1};

TEST(proxy_engine, a_turn_waits_once_for_all_that_others_ask) {
  stepped_world world(2, false, 11, &enough);
  const producer ring = world.produce(0);
  std::vector<std::uint64_t> here(100, 99);
  std::vector<producer::ticket> fetched;
  for (std::uint64_t i = 0; i < 100; ++i) {
    ring.push(add(1, 8 * i, i));
    if (i % 8 == 0) fetched.push_back(ring.ask(add(1, 8 * i, 1)));
  }
  for (std::uint64_t i = 0; i < 100; ++i) ring.push(get(1, &here[i], 8 * i, 8));
  world.send_all(0);
  lazy_device& device = world.device(1);
  world.turn(1);
  EXPECT_EQ(device.waits, 1u);
  EXPECT_EQ(device.updates, 1u);
  EXPECT_EQ(device.copies, 100u);
  EXPECT_EQ(world.engine(1).statistics().messages, 1u);
  world.rounds_to_rest();
  EXPECT_EQ(device.waits, 1u);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(here[i], i + (i % 8 == 0 ? 1 : 0));
  for (std::uint64_t i = 0; i < fetched.size(); ++i) ASSERT_EQ(ring.wait(fetched[i]).low, 8 * i);
}

TEST(proxy_engine, sources_are_waited_for_together_and_may_then_be_reused) {
  for (const detail::pinned_sizes* const pinned : {&enough, &little}) {
    stepped_world world(3, false, 11, pinned);
    const producer ring = world.produce(0);
    std::vector<std::byte> data = pattern(32 * 40, 1);
    const std::vector<std::byte> original = data;
    std::vector<producer::ticket> reusable;
    for (std::uint64_t i = 0; i < 32; ++i) {
      const int pe = 1 + static_cast<int>(i % 2);
      if (i % 2 == 0)
        ring.push(put(pe, 64 * i, data.data() + 40 * i, 40));
      else
        reusable.push_back(ring.ask(put_signal(pe, 64 * i, data.data() + 40 * i, 40, 8 << 10, 1)));
    }
    std::size_t early = 0;
    world.device(0).before_work = [&] { early += reusable.empty() || !ring.is_there(reusable.back()) ? 0u : 1u; };
    world.turn(0);
    if (pinned == &enough) {
      EXPECT_EQ(world.device(0).waits, 1u);
    }
    EXPECT_EQ(early, 0u) << "the last source was not read yet";
    world.device(0).before_work = [] {};
    for (const producer::ticket& each : reusable) EXPECT_TRUE(ring.is_there(each));
    std::fill(data.begin(), data.end(), std::byte{0});
    world.rounds_to_rest();
    for (std::uint64_t i = 0; i < 32; ++i)
      ASSERT_EQ(std::memcmp(world.slot(1 + static_cast<int>(i % 2)) + 64 * i, original.data() + 40 * i, 40), 0) << i;
    EXPECT_EQ(world.word(2, 8 << 10), 16u);
  }
}

TEST(proxy_engine, what_one_message_asks_is_done_in_its_order) {
  for (const detail::pinned_sizes* const pinned : {&enough, &little}) {
    stepped_world world(2, false, 11, pinned);
    const producer ring = world.produce(0);
    constexpr std::uint64_t rounds = 5;
    const std::vector<std::byte> data = pattern(rounds * 300, 1);
    std::vector<std::byte> back(data.size());
    std::vector<producer::ticket> before;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      ring.push(put_value(1, 0, 100 * i));
      ring.push(add(1, 0, 1));
      before.push_back(ring.ask(add(1, 0, 2)));
      before.push_back(ring.ask(get_value(1, 0)));
      ring.push(put(1, 64, data.data() + 300 * i, 300));
      ring.push(make(detail::command_kind::fence, 1));
      ring.push(signal(1, 0, 4));
      before.push_back(ring.ask(atomic(1, 0, detail::atomic_update::fetch, detail::word_kind::u64, 0)));
    }
    world.send_all(0);
    EXPECT_EQ(world.engine(0).statistics().messages, 1u);
    world.rounds_to_rest();
    EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data() + 300 * (rounds - 1), 300), 0);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      EXPECT_EQ(ring.wait(before[3 * i]).low, 100 * i + 1);
      EXPECT_EQ(ring.wait(before[3 * i + 1]).low, 100 * i + 3);
      EXPECT_EQ(ring.wait(before[3 * i + 2]).low, 100 * i + 7);
    }
  }
}

TEST(proxy_engine, atomic_operations_come_behind_others_where_a_fence_is_between) {
  stepped_world world(2, false, 11, &enough);
  const producer ring = world.produce(0);
  ring.push(make(detail::command_kind::fence, 1));  // with nothing before it
  for (const std::uint64_t word : {0u, 8u}) ring.push(add(1, word, 1));
  ring.push(make(detail::command_kind::fence, 1));
  for (const std::uint64_t word : {16u, 24u}) ring.push(add(1, word, 1));
  ring.push(make(detail::command_kind::fence, 0));  // for others
  ring.push(add(1, 32, 1));
  ring.push(signal(1, 40, 1));
  ring.push(add(1, 48, 1));
  world.rounds_to_rest();
  EXPECT_EQ(world.device(1).fenced, (std::vector<bool>{false, false, true, false, false, true, false}));
  EXPECT_EQ(world.device(1).updates, 1u);
}

TEST(proxy_engine, more_than_the_staging_holds_goes_both_ways) {
  for (const detail::pinned_sizes* const pinned : {&enough, &little}) {
    stepped_world world(2, false, 11, pinned);
    const producer ring = world.produce(0);
    const std::vector<std::byte> data = pattern(slot_bytes, 1);
    std::vector<std::byte> back(slot_bytes);
    ring.push(put(1, 0, data.data(), data.size()));
    for (std::size_t at = 0; at < 1'000'000; at += 8000) ring.push(put(1, at, data.data() + at, 8000));
    world.rounds_to_rest();
    ring.push(get(1, back.data(), 0, back.size()));
    world.rounds_to_rest();
    EXPECT_EQ(back, data);
    if (pinned == &enough) {
      EXPECT_LT(world.device(0).waits, 100u) << "65 messages there, 65 back, 125 puts";
    }
  }
}

TEST(proxy_engine, what_a_lost_pe_asked_for_does_not_get_into_messages_for_others) {
  stepped_world world(3, false, 11, &enough);
  const std::vector<std::byte> data = pattern(8000, 1);
  std::memcpy(world.slot(0), data.data(), data.size());
  // PE 1 asks for something, and then makes no sense.
  const detail::record_header good{detail::record_kind::get, {}, {}, 0, 8000, 0};
  const detail::request_part request{1};
  const detail::record_header bad{static_cast<detail::record_kind>(99), {}, {}, 0, 0, 0};
  std::vector<std::byte> message(sizeof(detail::message_header) + sizeof good + sizeof request + sizeof bad);
  const detail::message_header head{1, 0, static_cast<std::uint32_t>(message.size())};
  std::memcpy(message.data(), &head, sizeof head);
  std::memcpy(message.data() + sizeof head, &good, sizeof good);
  std::memcpy(message.data() + sizeof head + sizeof good, &request, sizeof request);
  std::memcpy(message.data() + sizeof head + sizeof good + sizeof request, &bad, sizeof bad);
  world.transport(1).send(0, message, 0);
  world.transport(1).progress();
  std::vector<std::byte> here(1000);
  for (std::size_t i = 0; i < 1000; i += 100) world.produce(2).push(get(0, &here[i], 64 + i, 100));
  world.send_all(2);
  for (int i = 0; i < 5; ++i) world.turn(0);  // refuses PE 1, and answers PE 2 out of the same buffers
  for (int i = 0; i < 5; ++i) world.turn(2);
  EXPECT_EQ(world.failures(0), 1);
  EXPECT_EQ(world.failures(2), 0);
  EXPECT_EQ(std::memcmp(here.data(), data.data() + 64, here.size()), 0);
}

TEST(proxy_engine, commands_that_make_no_sense_end_the_world_once) {
  detail::command wrong[] = {put_value(2, 0, 0),
                             put_value(-1, 0, 0),
                             put_value(1, 0, 0, 17),
                             make(static_cast<detail::command_kind>(77), 1),
                             make(detail::command_kind::quiet, -2),
                             strided(detail::command_kind::put_strided, 1, 0, 0, nullptr, 0, ~std::uint64_t{0}, 3),
                             get_value(1, 0)};
  wrong[6].answer = 16;
  for (const detail::command& each : wrong) {
    stepped_world world(2);
    const producer ring = world.produce(0);
    ring.push(each);
    ring.push(each);
    ring.push(put_value(1, 8, 5));
    for (int i = 0; i < 5; ++i) world.round();
    EXPECT_EQ(world.failures(0), 1) << static_cast<int>(each.kind);
    EXPECT_EQ(world.word(1, 8), 0u) << "later commands are dropped";
    EXPECT_EQ(load_acquire(ring.ring().progress->taken), 3u) << "and their producers not held back";
  }
}

}  // namespace
}  // namespace pgas::testing
