/// @file
/// The contract suite for transports within one process, and tests of their own features.
#include "support/transport/loopback.hpp"

#include "code_of.hpp"
#include "contract_test.hpp"
#include "host/log/logger.hpp"
#include "support/transport/faulty.hpp"
#include "support/transport/traced.hpp"

namespace pgas_test {
namespace {

using pgas::code;
using pgas::testing::faulty_settings;
using pgas::testing::faulty_transport;
using pgas::testing::loopback_network;
using pgas::testing::traced_transport;

INSTANTIATE_TEST_SUITE_P(transports, contract, testing::ValuesIn(kinds_in_one_process()), kind_name);

[[nodiscard]] transport_kind on(const std::shared_ptr<loopback_network>& network) {
  return {"loopback", [network](int n) {
            std::vector<std::unique_ptr<transport>> result;
            for (int pe = 0; pe < n; ++pe) result.push_back(network->join(pe));
            return result;
          }};
}

TEST(loopback, a_pe_that_is_cut_is_lost_to_all) {
  const auto network = std::make_shared<loopback_network>(4);
  run_pes(
      on(network), 4,
      [&](test_pe& pe) {
        constexpr int victim = 2;
        const blob hello(3);
        pe.send((pe.me + 1) % 4, hello);
        pe.until_messages(1);
        pe.until_done();
        pe.barrier();
        if (pe.me == 0) network->cut(victim);
        const std::size_t expected = pe.me == victim ? 3 : 1;
        pe.until([&] { return pe.losses.size() == expected; }, "the loss");
        if (pe.me == victim) return;
        EXPECT_EQ(pe.losses.front().first, victim);
        pe.link->send(victim, hello, pe.next_token());  // has no effect
        const int next = pe.me == 1 ? 3 : (pe.me + 1) % 4;
        pe.link->send(next, hello, 1000);
        pe.until([&] { return pe.done_count.contains(1000) && pe.messages.size() == 2; }, "those who are left");
        EXPECT_EQ(pe.losses.size(), 1u) << "told once";
      },
      true);
}

TEST(loopback, a_pe_that_does_not_disconnect_is_lost) {
  const auto network = std::make_shared<loopback_network>(2);
  run_pes(
      on(network), 2,
      [&](test_pe& pe) {
        if (pe.me == 1) {
          network->gone(1);  // as a transport's destructor does
          return;
        }
        pe.until([&] { return !pe.losses.empty(); }, "the loss");
        EXPECT_EQ(pe.losses.front().first, 1);
      },
      true);
}

TEST(loopback, refuses_invalid_networks) {
  EXPECT_EQ(code_of([] { loopback_network none(0); }), code::invalid_argument);
  const auto network = std::make_shared<loopback_network>(2);
  EXPECT_EQ(code_of([&] { (void)network->join(2); }), code::pe_out_of_range);
  const auto item = network->join(1);
  EXPECT_EQ(code_of([&] { (void)network->join(1); }), code::invalid_argument);
}

// Without reordering, tests with this transport would find nothing.
TEST(faulty, reorders_messages_and_completions) {
  const transport_kind kind = kinds_in_one_process().at(1);
  ASSERT_EQ(kind.name, "faulty");
  run_pes(kind, 2, [](test_pe& pe) {
    constexpr std::size_t n = 50;
    std::vector<blob> sent;
    for (std::size_t i = 0; i < n; ++i) sent.emplace_back(i);
    std::vector<transport_token> ended;
    pe.on_done = [&](transport_token token) { ended.push_back(token); };
    if (pe.me == 0) {
      for (const blob& item : sent) pe.send(1, item);
      pe.until_done();
      EXPECT_FALSE(std::is_sorted(ended.begin(), ended.end()));
    } else {
      pe.until_messages(n);
      const auto by_size = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
      EXPECT_FALSE(std::is_sorted(pe.messages.begin(), pe.messages.end(), by_size));
    }
    pe.barrier();
    pe.on_done = nullptr;
  });
}

TEST(faulty, loses_its_victim_after_so_many_operations) {
  const auto network = std::make_shared<loopback_network>(2);
  const transport_kind kind{"failing", [&](int n) {
                              auto result = on(network).make(n);
                              const faulty_settings settings{.victim = 1, .fail_after = 3};
                              result[0] = std::make_unique<faulty_transport>(std::move(result[0]), settings);
                              return result;
                            }};
  run_pes(
      kind, 2,
      [](test_pe& pe) {
        const blob message(8);
        if (pe.me == 1) {
          pe.until_messages(3);
        } else {
          for (int i = 0; i < 3; ++i) pe.send(1, message);
          pe.until_done();
          EXPECT_TRUE(pe.losses.empty());
          pe.send(1, message);
          pe.send(1, message);
          pe.until([&] { return !pe.losses.empty(); }, "the loss");
          EXPECT_EQ(pe.losses.front().first, 1);
          EXPECT_EQ(pe.done_count.size(), 3u);
        }
        pe.barrier();
        EXPECT_EQ(pe.losses.size(), pe.me == 0 ? 1u : 0u);
        EXPECT_EQ(pe.messages.size(), pe.me == 1 ? 3u : 0u);
      },
      true);
}

TEST(traced, counts_operations) {
  pgas::log::logger log(pgas::log_level::warn);
  std::vector<traced_transport*> traced;
  const transport_kind kind{"traced", [&](int n) {
                              auto result = on(std::make_shared<loopback_network>(n)).make(n);
                              for (auto& item : result) {
                                auto wrapped = std::make_unique<traced_transport>(std::move(item), log);
                                traced.push_back(wrapped.get());
                                item = std::move(wrapped);
                              }
                              return result;
                            }};
  run_pes(kind, 2, [&](test_pe& pe) {
    blob memory(1000);
    const exposed_memory exposed = pe.expose(memory);
    pe.barrier();
    if (pe.me == 0) {
      const std::uint64_t imported = pe.import_from(1);
      blob here(100);
      pe.put(imported, 0, here.data(), 30);
      pe.put(imported, 30, here.data(), 70);
      pe.get(imported, 0, here.data(), 100);
      pe.send(1, here);
      pe.until_done();
      EXPECT_EQ(code_of([&] { pe.link->put(imported, 999, here.data(), 2, 99); }), code::transport_failed);
      const pgas::testing::traffic& out = traced[0]->traffic_with(1);
      EXPECT_EQ(out.puts, 2u);
      EXPECT_EQ(out.put_bytes, 100u);
      EXPECT_EQ(out.gets, 1u);
      EXPECT_EQ(out.get_bytes, 100u);
      EXPECT_EQ(out.sent, 1u);
      EXPECT_EQ(out.sent_bytes, 100u);
      EXPECT_EQ(traced[0]->traffic_with(0).sent, 0u);
    } else {
      pe.until_messages(1);
      EXPECT_EQ(traced[1]->traffic_with(0).received, 1u);
      EXPECT_EQ(traced[1]->traffic_with(0).received_bytes, 100u);
    }
    pe.barrier();
    pe.link->withdraw(exposed);
  });
}

}  // namespace
}  // namespace pgas_test
