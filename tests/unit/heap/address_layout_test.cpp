// The address of the heap: PEs agree on one base, or continue without a common base.
#include "host/heap/address_layout.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

using detail::address_layout;

constexpr std::size_t GiB = std::size_t{1} << 30;

TEST(address_layout, processes_have_the_same_base) {
  for (const int n : {1, 2, 4, 8}) {
    const auto ends = run_processes(n, [n](bootstrap& exchange) {
      joined_pe pe(exchange);
      faulty_device device;
      {
        const address_layout slots(device, pe.control_plane, n, GiB, GiB, 2 * MiB);
        const auto base = reinterpret_cast<std::uintptr_t>(slots.slot(0));
        require(slots.same_base(), "an agreement");
        require(base % (2 * MiB) == 0, "alignment");
        require(slots.log2_stride() == 30, "the stride asked for");
        require(slots.slot(n - 1) - slots.slot(0) == static_cast<std::ptrdiff_t>(GiB) * (n - 1), "equal slots");
        const auto all = pe.control_plane.all_gather(std::as_bytes(std::span(&base, 1)));
        for (const auto& theirs : all) require(theirs.bytes == all[0].bytes, "one base");
        require(device.reservations == 1, "no other reservation is kept");
      }
      require(device.reservations == 0, "given back");
      pe.control_plane.leave();
    });
    for (const auto& end : ends) EXPECT_EQ(end.message, "");
  }
}

TEST(address_layout, several_worlds_of_a_process_agree_each) {
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    faulty_device device;
    std::vector<std::unique_ptr<address_layout>> many;
    for (int i = 0; i < 3; ++i) {
      many.push_back(std::make_unique<address_layout>(device, pe.control_plane, 2, GiB, GiB, 2 * MiB));
      require(many.back()->same_base(), "an agreement");
    }
    pe.control_plane.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(address_layout, threads_of_one_process_cannot_share_an_address) {
  std::set<const std::byte*> bases;
  std::mutex mutex;
  expect_no_error(run_threads(3, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    faulty_device device;
    const address_layout slots(device, pe.control_plane, 3, 64 * MiB, 64 * MiB, 2 * MiB);
    EXPECT_FALSE(slots.same_base());
    EXPECT_EQ(device.reservations, 1);
    {
      const std::lock_guard lock(mutex);
      bases.insert(slots.slot(0));
    }
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
  EXPECT_EQ(bases.size(), 3u);
}

TEST(address_layout, one_pe_that_gets_no_address_makes_all_differ_and_the_heap_works) {
  const auto ends = run_processes(3, [](bootstrap& exchange) {
    heap_pe at(exchange, small_heap(), [&](faulty_device& device) { device.refuse_hints = exchange.rank() == 1; });
    require(!at.heap->same_base(), "the world records that bases differ");
    auto* p = at.allocate<int>(1000);
    at.remote(p, (at.me + 1) % 3)[0] = at.me;
    at.pe.control_plane.barrier();
    require(p[0] == (at.me + 2) % 3, "the value of the neighbour");
    at.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(address_layout, a_later_proposal_is_taken_where_the_first_fails) {
  // The addresses that PE 0's system chooses are in use on PE 1: PE 1 has occupied all addresses around them.
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    faulty_device device;
    faulty_device obstacle;
    std::vector<std::pair<void*, std::size_t>> held;
    if (exchange.rank() == 1) {
      for (int i = 0; i < 8; ++i) held.emplace_back(obstacle.reserve(GiB, nullptr), GiB);
    }
    const address_layout slots(device, pe.control_plane, 2, 256 * MiB, 256 * MiB, 2 * MiB);
#if !defined(__SANITIZE_THREAD__)  // the thread sanitizer leaves no other addresses
    require(slots.same_base(), "an agreement on another address");
#endif
    for (const auto& [address, bytes] : held) obstacle.release(address, bytes);
    pe.control_plane.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(address_layout, the_stride_shrinks_where_addresses_are_short) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    faulty_device device;
    if (exchange.rank() == 1) device.most_addresses = 256 * MiB;
    {
      const address_layout slots(device, pe.control_plane, 2, GiB, 2 * MiB, 2 * MiB);
      EXPECT_EQ(slots.stride(), 128 * MiB) << "for all, though only PE 1 is short";
    }
    const auto end =
        thrown_by([&] { const address_layout slots(device, pe.control_plane, 2, GiB, 256 * MiB, 2 * MiB); });
    ASSERT_TRUE(end) << "less than was asked for is not taken";
    EXPECT_EQ(end->code(), code::address_space);
    EXPECT_EQ(end->pe(), 1);
    EXPECT_NE(std::string(end->what()).find("PE 1 "), std::string::npos) << end->what();
    EXPECT_EQ(device.reservations, 0);
    pe.control_plane.leave();
  }));
}

TEST(address_layout, limits_larger_than_the_machine_are_cut_to_the_addresses_there_are) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.heap_limit = ~std::size_t{0};
    const auto cut = [](faulty_device& device) { device.most_addresses = GiB; };
    const auto end = thrown_by([&] { heap_pe at(exchange, settings, cut); });
    ASSERT_TRUE(end) << "a limit that was asked for and can't be had is an error";
    EXPECT_EQ(end->code(), code::address_space) << end->what();
    EXPECT_NE(std::string(end->what()).find("PGAS_HEAP_LIMIT"), std::string::npos) << end->what();
  }));

  const auto others = run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.heap_limit = 0;
    heap_pe at(exchange, settings, [](faulty_device& device) {
      device.memory = std::size_t{1} << 50;  // the device has more memory than a process has addresses
      device.most_addresses = GiB;
    });
    EXPECT_EQ(at.heap->usage().limit, GiB / 4);  // the upper half of a slot is for team segments
    static_cast<void>(at.allocate<char>(1));
    at.leave();
  });
  expect_no_error(others);
}

}  // namespace
}  // namespace pgas::unit_test
