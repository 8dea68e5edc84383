// A PE is killed during a registration, at each of its steps. PEs are forked processes.
#include <gtest/gtest.h>
#include <signal.h>

#include <tuple>

#include "pgas/shared_memory.hpp"
#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

class killed_while_registering : public testing::TestWithParam<std::tuple<step, int>> {};
INSTANTIATE_TEST_SUITE_P(at, killed_while_registering,
                         testing::Values(std::tuple(step::retain, 1), std::tuple(step::export_segment, 1),
                                         std::tuple(step::map, 1), std::tuple(step::import_segment, 1),
                                         std::tuple(step::map, 2), std::tuple(step::import_segment, 2),
                                         std::tuple(step::map, 3)));

TEST_P(killed_while_registering, a_dead_pe_is_named_and_the_others_keep_no_memory_of_it) {
  const auto ends = run_processes(3, [&](bootstrap& exchange) {
    const auto [which, nth] = GetParam();
    heap_pe at(exchange);
    const shared_memory memory = shared_memory::make(memory_place::host(), 2 * MiB);
    auto& buffers = at.heap->registered_buffers();
    const auto released = std::make_shared<std::atomic<bool>>(false);
    static_cast<void>(buffers.add(memory.data(), memory.size(), released));
    // The call in which the PE dies would also end the earlier registration.
    released->store(true);
    if (at.me == 1) at.device.die_at(which, nth);
    const auto from = std::chrono::steady_clock::now();
    const auto lost = thrown_by([&] { static_cast<void>(buffers.add(memory.data(), memory.size())); });
    require(lost.has_value(), "an error");
    require(lost->code() == code::peer_lost && lost->pe() == 1, lost->what());
    require(std::chrono::steady_clock::now() - from < std::chrono::seconds(2), "told within two seconds");
    // Before the exchange, no PE knows that all PEs have released the other registration.
    require(at.heap->team_segment_map().count() == (which == step::retain ? 1u : 0u), "no registration is left");
    require(thrown_by([&] { static_cast<void>(buffers.collect()); }).has_value(), "the world has failed");
    at.heap.reset();
    require(at.device.segments == 0 && at.device.mappings == 0 && at.device.reservations == 0, "nothing is left");
  });
  for (const int pe : {0, 2}) EXPECT_EQ(ends[static_cast<std::size_t>(pe)].message, "") << "PE " << pe;
  EXPECT_EQ(ends[1].signal, SIGKILL);
}

}  // namespace
}  // namespace pgas::unit_test
