// The growth of exchanges with the number of PEs, and exchanges among PEs that are late, die, or have slow links.
#include "scale/simulated_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <numeric>
#include <random>
#include <set>

namespace pgas::scale_test {
namespace {

constexpr int per_host = 16;
constexpr std::uint64_t of_world = 0;

blob number(std::uint64_t value) {
  blob bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}
std::uint64_t number(const blob& bytes) {
  std::uint64_t value = 0;
  if (bytes.size() == sizeof(value)) std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}
void add(blob& all, std::span<const std::byte> more) {
  all = number(number(all) + number(blob(more.begin(), more.end())));
}

/// The number of steps from a PE to the root.
int depth_of(int n) {
  int depth = 1;
  for (int host = (n - 1) / per_host; host > 0; host = (host - 1) / group_tree::arity) ++depth;
  return depth;
}

TEST(status, is_not_sent_to_a_child_that_has_the_contributions_of_all_others) {
  const std::vector<int> hosts{0, 0};
  const auto members = std::make_shared<group_layout>(hosts);
  const clock::time_point begin{};
  group_exchange root(7);
  group_exchange child(7);
  group_exchange::messages out;
  root.set_members(members, 0, begin, out);
  child.set_members(members, 1, begin, out);
  const auto carry = [](group_exchange::messages& from, group_exchange& to, clock::time_point now) {
    group_exchange::messages more;
    for (const outgoing_message& one : from) to.receive({{one.content->bytes(), {}, false}, one.header}, now, more);
    from.clear();
    return more;
  };
  static_cast<void>(root.contribute(collective::barrier, {}, {}, {}, begin, out));
  ASSERT_EQ(out.size(), 1U) << "the answer in advance";
  EXPECT_TRUE(carry(out, child, begin).empty());
  const std::uint64_t number = child.contribute(collective::barrier, {}, {}, {}, begin, out);
  ASSERT_TRUE(child.complete(number));
  static_cast<void>(child.take(number));  // the member may now remove the group

  group_exchange::messages late;
  root.send_status(begin + std::chrono::seconds(1), late);
  EXPECT_TRUE(late.empty()) << "a message for a group that the member may have removed";
  carry(out, root, begin);
  EXPECT_TRUE(root.complete(0));
}

class growth : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(pes, growth, testing::Values(2, 16, 17, 100, 1000, 10'000));

std::vector<int> all_of(const simulated_world& world) {
  std::vector<int> pes(static_cast<std::size_t>(world.n()));
  std::iota(pes.begin(), pes.end(), 0);
  return pes;
}

void report(const char* what, int n, const traffic& sent) {
  std::cout << what << " of " << n << " PEs: " << sent.messages << " messages, chain " << sent.longest_chain << ", "
            << sent.most_bytes_on_link << " bytes on a link, "
            << std::chrono::duration_cast<microseconds>(sent.time).count() << " us\n";
}

TEST_P(growth, barriers_and_reductions_take_two_messages_for_each_pe_and_a_chain_of_logarithmic_length) {
  simulated_world world(GetParam(), per_host);
  for (int pe = 0; pe < world.n(); ++pe) world.make_group(pe, of_world, world.whole());
  const auto expect = [&](const char* what, std::uint64_t bytes) {
    world.run();
    const traffic seen = world.counted();
    report(what, world.n(), seen);
    EXPECT_EQ(seen.messages, 2u * static_cast<std::uint64_t>(world.n() - 1));
    EXPECT_LE(seen.longest_chain, 2 * depth_of(world.n()));
    EXPECT_LE(seen.most_bytes_on_link, bytes) << "the same for all numbers of PEs";
  };
  for (int pe = 0; pe < world.n(); ++pe) world.begin(pe, of_world, collective::barrier);
  expect("barrier", sizeof(control_header));
  for (int pe = 0; pe < world.n(); ++pe) {
    EXPECT_TRUE(world.take(pe, of_world)) << pe;
    world.begin(pe, of_world, collective::reduce, number(static_cast<std::uint64_t>(pe)), add);
  }
  expect("reduction", sizeof(control_header) + 64);
  const auto n = static_cast<std::uint64_t>(world.n());
  for (int pe = 0; pe < world.n(); ++pe) {
    const std::optional<blob> sum = world.take(pe, of_world);
    ASSERT_TRUE(sum) << pe;
    EXPECT_EQ(number(*sum), n * (n - 1) / 2);
  }
}

TEST_P(growth, a_death_has_a_collective_abandoned_by_a_message_for_each_link_at_most_twice) {
  simulated_world world(GetParam(), per_host);
  for (int pe = 0; pe < world.n(); ++pe) world.make_group(pe, of_world, world.whole());
  const int victim = world.n() - 1;
  for (int pe = 0; pe < victim; ++pe) world.begin(pe, of_world, collective::barrier);
  world.run();
  static_cast<void>(world.counted());
  world.kill(victim);
  world.run();
  const traffic seen = world.counted();
  report("a death", world.n(), seen);
  EXPECT_LE(seen.messages, 2u * static_cast<std::uint64_t>(world.n()));
  EXPECT_LE(seen.longest_chain, 2 * depth_of(world.n()) + 1);
  for (int pe = 0; pe < victim; ++pe) EXPECT_TRUE(world.abandoned(pe, of_world)) << pe;
}

TEST(group_tree, each_member_is_reached_and_no_leader_has_more_than_its_host_and_eight_children) {
  std::minstd_rand random(5);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<int> hosts(static_cast<std::size_t>(random() % 300 + 1));
    const int n_hosts = static_cast<int>(random() % hosts.size()) + 1;
    for (int& host : hosts) host = static_cast<int>(random() % static_cast<unsigned>(n_hosts));
    std::vector<int> members;
    for (int pe = 0; pe < static_cast<int>(hosts.size()); ++pe)
      if (random() % 3 != 0) members.push_back(pe);
    std::shuffle(members.begin(), members.end(), random);
    if (members.empty()) continue;
    std::map<int, group_tree> trees;
    const auto layout = std::make_shared<group_layout>(members, hosts);
    for (const int pe : members) trees.emplace(pe, group_tree(layout, pe));
    for (const int pe : members) {
      const group_tree& tree = trees.at(pe);
      EXPECT_EQ(tree.parent() < 0, pe == *std::ranges::min_element(members));
      const auto elsewhere = std::ranges::count_if(tree.children(), [&](int c) { return !tree.on_host_of_this(c); });
      EXPECT_LE(elsewhere, group_tree::arity);
      for (const int child : tree.children()) EXPECT_EQ(trees.at(child).parent(), pe);
    }
    for (const int from : members)
      for (const int to : members) {
        int at = from;
        for (int steps = 0; at != to && steps < 20; ++steps) at = trees.at(at).next_hop(to);
        EXPECT_EQ(at, to);
      }
  }
}

class seeds : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(of_faults, seeds, testing::Range(1u, 101u));

TEST_P(seeds, collectives_of_groups_that_overlap_end_on_all_pes_that_live) {
  std::minstd_rand random(GetParam() * 7919);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const int n = 2 + static_cast<int>(below(120));
  latency_model slow;
  slow.jitter = microseconds(static_cast<std::int64_t>(below(3000)));
  simulated_world world(n, 1 + static_cast<int>(below(12)), slow, GetParam());
  std::vector<std::vector<int>> groups{all_of(world)};
  for (int i = 0; i < 3; ++i) {
    std::vector<int> some;
    for (int pe = 0; pe < n; ++pe)
      if (below(2) == 0) some.push_back(pe);
    std::shuffle(some.begin(), some.end(), random);
    if (!some.empty()) groups.push_back(some);
  }
  const std::size_t rounds = 1 + below(4);
  std::set<int> dead;
  if (GetParam() % 2 == 0)
    for (std::size_t i = 0; i <= below(3); ++i) dead.insert(static_cast<int>(below(static_cast<std::size_t>(n))));
  for (std::size_t id = 0; id < groups.size(); ++id)
    for (const auto layout = world.layout_of(groups[id]); const int pe : groups[id])
      world.at(microseconds(static_cast<std::int64_t>(below(5000))),
               [&world, layout, pe, id] { world.make_group(pe, id, layout); });
  world.run();
  for (const int pe : dead)
    world.at(microseconds(static_cast<std::int64_t>(below(20'000))), [&world, pe] { world.kill(pe); });
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t id = 0; id < groups.size(); ++id)
      for (const int pe : groups[id])
        world.at(microseconds(static_cast<std::int64_t>(below(5000))), [&world, pe, id] {
          world.begin(pe, id, collective::reduce, number(static_cast<std::uint64_t>(pe) + 1), add);
        });
    world.run();
    for (std::size_t id = 0; id < groups.size(); ++id) {
      std::uint64_t sum = 0;
      for (const int pe : groups[id]) sum += static_cast<std::uint64_t>(pe) + 1;
      bool any_open = false;
      for (const int pe : groups[id]) {
        if (!world.alive(pe)) continue;
        const std::optional<blob> result = world.take(pe, id);
        any_open = any_open || !result;
        EXPECT_EQ(number(result.value_or(number(sum))), sum) << "PE " << pe << ", group " << id;
        // If a PE between two members is dead, the members receive the failure of the world instead of a result.
        EXPECT_TRUE(result || !dead.empty()) << "PE " << pe << ", group " << id << ", round " << round;
      }
      for (const int pe : id == 0 && any_open ? groups[id] : std::vector<int>())
        if (world.alive(pe) && !world.taken(pe, id)) {
          EXPECT_TRUE(world.abandoned(pe, id)) << "PE " << pe << " waits for ever";
        }
    }
    if (!dead.empty()) break;  // the world has failed
  }
}

}  // namespace
}  // namespace pgas::scale_test
