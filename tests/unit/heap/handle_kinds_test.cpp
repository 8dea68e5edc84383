// Kinds of handles for sharing memory between PEs, with failures in every step.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "unit/heap/heap_fixture.hpp"

namespace pgas::unit_test {
namespace {

class kinds_between_processes : public testing::TestWithParam<std::tuple<handle_kind, int>> {};
INSTANTIATE_TEST_SUITE_P(all, kinds_between_processes,
                         testing::Combine(testing::Values(handle_kind::posix_fd, handle_kind::named,
                                                          handle_kind::cuda_ipc),
                                          testing::Values(1, 2, 4, 8)));

TEST_P(kinds_between_processes, carry_a_heap) {
  const auto [kind, n] = GetParam();
  const holdings before = count_holdings();
  const auto ends = run_processes(n, [kind = kind](bootstrap& exchange) {
    const holdings at_start = count_holdings();
    config settings = small_heap();
    settings.mem_handle = kind;
    {
      heap_pe at(exchange, settings);
      require(at.heap->kind() == kind, "the kind asked for");
      require(at.heap->same_base() == (kind != handle_kind::cuda_ipc || at.n == 1), "one base");
      for (int round = 0; round < 3; ++round) {
        const std::size_t count = (std::size_t{1} + 5 * static_cast<std::size_t>(round)) * MiB;
        auto* p = at.allocate<std::int32_t>(count);
        for (int pe = 0; pe < at.n; ++pe) at.remote(p, pe)[count - 1 - static_cast<std::size_t>(at.me)] = at.me + round;
        at.pe.control_plane.barrier();
        for (int pe = 0; pe < at.n; ++pe)
          require(p[count - 1 - static_cast<std::size_t>(pe)] == pe + round, "their value");
      }
      at.leave();
    }
    require(settle_at(at_start) == at_start, "nothing left");
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
  EXPECT_EQ(settle_at(before), before);
}

TEST(handle_kinds, a_dead_pes_memory_stays_readable) {
  for (const handle_kind kind : {handle_kind::posix_fd, handle_kind::named, handle_kind::cuda_ipc}) {
    const auto ends = run_processes(3, [kind](bootstrap& exchange) {
      config settings = small_heap();
      settings.mem_handle = kind;
      heap_pe at(exchange, settings);
      auto* p = at.allocate<int>(5 * MiB);
      p[5 * MiB - 1] = 100 + at.me;
      at.pe.control_plane.barrier();
      if (at.me == 1) ::kill(::getpid(), SIGKILL);
      const auto end = thrown_by([&] { at.pe.control_plane.barrier(); });
      require(end && end->code() == code::peer_lost && end->pe() == 1, end ? end->what() : "an error");
      require(at.remote(p, 1)[5 * MiB - 1] == 101, "what it left");
      at.remote(p, 1)[0] = 1;
    });
    EXPECT_EQ(ends[0].message, "");
    EXPECT_EQ(ends[1].signal, SIGKILL);
    EXPECT_EQ(ends[2].message, "");
  }
}

TEST(handle_kinds, the_first_kind_that_works_everywhere_is_taken) {
  const scratch_folder logs;
  expect_no_error(run_threads(3, [&](bootstrap& exchange) {
    config settings = small_heap();
    settings.log_file = logs.path() + "/log";
    heap_pe at(exchange, settings, [&](faulty_device& device) {
      device.kinds = {handle_kind::fabric, handle_kind::posix_fd, handle_kind::named};
      device.refuse(step::create, handle_kind::fabric);  // as some drivers behave
      if (exchange.rank() == 2) device.refuse(step::import_segment, handle_kind::posix_fd);
    });
    EXPECT_EQ(at.heap->kind(), handle_kind::named);
    EXPECT_EQ(at.device.segments, 0) << "nothing stays of what was tried";
    EXPECT_EQ(at.device.mappings, 0);
    auto* p = at.allocate<int>(10);
    at.remote(p, (at.me + 1) % 3)[0] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(p[0], (at.me + 2) % 3);
    at.leave();
  }));
  const auto lines = lines_of(logs.path() + "/log");
  EXPECT_EQ(count_with(lines, "info: memory is shared by named handles"), 1u);
  EXPECT_EQ(count_with(lines, "PE 2 "), 1u) << "the line tells what was tried before";
  EXPECT_EQ(count_with(lines, "warn: "), 0u);
}

TEST(handle_kinds, fabric_handles_carry_a_heap_where_they_work) {
  expect_no_error(run_threads(4, [](bootstrap& exchange) {
    heap_pe at(exchange, small_heap(), [](faulty_device& device) {
      device.kinds = {handle_kind::fabric, handle_kind::posix_fd};
    });
    EXPECT_EQ(at.heap->kind(), handle_kind::fabric);
    auto* p = at.allocate<int>(10);
    at.remote(p, (at.me + 1) % 4)[0] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(p[0], (at.me + 3) % 4);
    at.leave();
  }));
}

TEST(handle_kinds, when_nothing_works_the_error_tells_what_each_attempt_answered) {
  const auto ends = run_threads(3, [](bootstrap& exchange) {
    heap_pe at(exchange, small_heap(), [&](faulty_device& device) {
      device.kinds = {handle_kind::fabric, handle_kind::posix_fd};
      if (exchange.rank() == 0) device.kinds.push_back(handle_kind::named);
      device.refuse(step::create, handle_kind::fabric);
      if (exchange.rank() == 1) device.refuse(step::map, handle_kind::posix_fd);
    });
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::handle_exchange);
    EXPECT_STREQ(end->what(), ends[0]->what()) << "the same on all PEs";
    const std::string text = end->what();
    for (const char* wanted :
         {"fabric: PE 0", "PE 2", "ERROR_NOT_PERMITTED", "fd: PE 1", "named: PE 1 does not offer it"})
      EXPECT_NE(text.find(wanted), std::string::npos) << text;
  }
}

TEST(handle_kinds, pes_that_cannot_share_memory_stay_apart_where_they_may) {
  const scratch_folder logs;
  expect_no_error(run_threads(3, [&](bootstrap& exchange) {
    config settings = small_heap();
    settings.log_file = logs.path() + "/log";
    const auto prepare = [&](faulty_device& device) {
      device.kinds = {handle_kind::posix_fd};
      if (exchange.rank() == 1) device.refuse(step::import_segment, handle_kind::posix_fd);
    };
    heap_pe at(exchange, settings, prepare, true);
    EXPECT_EQ(at.device.mappings, 0) << "nothing stays of what was tried";
    const std::span<const int> members = at.heap->domains().members();
    const std::vector<int> direct_peers(members.begin(), members.end());
    EXPECT_EQ(direct_peers, at.me == 1 ? (std::vector<int>{1}) : (std::vector<int>{0, 2}));
    EXPECT_EQ(at.heap->domains().largest(), 2);
    auto* p = at.allocate<int>(10);
    if (at.me != 1) at.remote(p, 2 - at.me)[0] = at.me;
    at.pe.control_plane.barrier();
    if (at.me != 1) {
      EXPECT_EQ(p[0], 2 - at.me);
    }
    at.leave();
  }));
  const auto lines = lines_of(logs.path() + "/log");
  EXPECT_EQ(count_with(lines, "warn: memory can't be shared between all PEs of a host"), 1u);
  EXPECT_EQ(count_with(lines, "fd: PE 1 "), 1u) << "the line tells what was tried";
}

TEST(handle_kinds, pgas_direct_takes_pes_apart) {
  expect_no_error(run_threads(4, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.p2p = "0,2/1,3";
    heap_pe at(exchange, settings);
    const int other = (at.me + 2) % 4;
    EXPECT_TRUE(at.heap->domains().direct(other));
    EXPECT_FALSE(at.heap->domains().direct((at.me + 1) % 4));
    auto* p = at.allocate<int>(10);
    at.remote(p, other)[0] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(p[0], other);
    at.leave();
  }));
}

TEST(handle_kinds, pes_without_direct_peers_also_need_a_kind_that_makes_segments) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.p2p = "0";
    heap_pe at(exchange, settings, [&](faulty_device& device) {
      device.kinds = {handle_kind::fabric, handle_kind::posix_fd};
      if (exchange.rank() == 1) device.refuse(step::create, handle_kind::fabric);  // as some drivers behave
    });
    EXPECT_EQ(at.heap->kind(), handle_kind::posix_fd);
    EXPECT_NE(at.allocate<int>(10), nullptr);
    at.leave();
  }));
}

TEST(handle_kinds, a_kind_that_was_asked_for_and_does_not_exist_is_an_error) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.mem_handle = handle_kind::fabric;
    heap_pe at(exchange, settings);
  });
  expect_all(ends, code::handle_exchange, std::nullopt, "PGAS_MEM_HANDLE=fabric");
}

TEST(handle_kinds, a_kind_that_was_asked_for_is_named_as_it_was) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    config settings = small_heap();
    settings.mem_handle = handle_kind::posix_fd;
    heap_pe at(exchange, settings, [](faulty_device& device) { device.fail_at(step::create, 1, code::device_failed); });
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_NE(std::string(end->what()).find("PGAS_MEM_HANDLE=posix_fd "), std::string::npos) << end->what();
  }
}

TEST(handle_kinds, heaps_of_different_kinds_do_not_mix) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange, small_heap(), [&](faulty_device& device) {
      if (exchange.rank() == 1) device.kind = heap_kind::cuda;
    });
  });
  expect_all(ends, code::mixed_heaps, 1);
}

class failing_steps : public testing::TestWithParam<std::tuple<step, int, int>> {};
INSTANTIATE_TEST_SUITE_P(all, failing_steps,
                         testing::Combine(testing::Values(step::create, step::export_segment, step::import_segment,
                                                          step::map),
                                          testing::Values(0, 1, 2),    // the PE on which the call fails
                                          testing::Values(1, 2, 3)));  // the number of the call that fails

TEST_P(failing_steps, are_undone_on_all_pes) {
  const auto [which, where, nth] = GetParam();
  // When the heap grows, the steps `create` and `export_segment` are called only once each.
  if ((which == step::create || which == step::export_segment) && nth > 1) return;
  if (which == step::import_segment && nth > 2) return;  // a PE has two peers
  const holdings before = count_holdings();
  const auto ends = run_threads(3, [&, which = which, where = where, nth = nth](bootstrap& exchange) {
    heap_pe at(exchange);
    auto* kept = at.allocate<int>(1000);
    kept[0] = at.me;
    const heap_usage usage = at.heap->usage();
    const int segments = at.device.segments;
    const int mappings = at.device.mappings;
    at.pe.control_plane.barrier();
    const std::size_t fds = at.me == 0 ? count_holdings().fds : 0;
    at.pe.control_plane.barrier();

    if (at.me == where) at.device.fail_at(which, nth);
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(16 * MiB, 16)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::device_failed) << end->what();
    EXPECT_EQ(end->pe(), where);
    EXPECT_NE(std::string(end->what()).find("PE " + std::to_string(where) + " "), std::string::npos) << end->what();
    EXPECT_NE(std::string(end->what()).find("made to fail"), std::string::npos) << end->what();
    EXPECT_EQ(at.device.segments, segments);
    EXPECT_EQ(at.device.mappings, mappings);
    EXPECT_EQ(at.heap->usage().mapped, usage.mapped);
    EXPECT_EQ(at.heap->usage().used, usage.used);
    at.pe.control_plane.barrier();
    if (at.me == 0) {
      EXPECT_EQ(count_holdings().fds, fds);
    }
    at.pe.control_plane.barrier();

    // The heap is unchanged, and grows when calls no longer fail.
    at.device.heal();
    auto* p = at.allocate<int>(4 * MiB);
    at.remote(p, (at.me + 1) % 3)[4 * MiB - 1] = at.me;
    at.pe.control_plane.barrier();
    EXPECT_EQ(p[4 * MiB - 1], (at.me + 2) % 3);
    EXPECT_EQ(kept[0], at.me);
    at.heap->free(p);
    at.heap->free(kept);
    at.leave();
  });
  expect_no_error(ends);
  for (const auto& end : ends) EXPECT_EQ(end.has_value(), false);
  EXPECT_EQ(settle_at(before), before);
}

TEST(handle_kinds, a_device_without_room_for_generous_growth_gets_just_the_request) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    heap_pe at(exchange);
    static_cast<void>(at.allocate<std::byte>(40 * MiB));
    ASSERT_EQ(at.heap->usage().mapped, 40 * MiB);
    if (at.me == 1) at.device.fail_at(step::create, 1, code::out_of_memory);
    static_cast<void>(at.allocate<std::byte>(2 * MiB));
    EXPECT_EQ(at.heap->usage().mapped, 42 * MiB) << "instead of 60";
    if (at.me == 1) at.device.fail_at(step::create, 1, code::out_of_memory);
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(60 * MiB, 16)); });
    ASSERT_TRUE(end) << "nothing smaller would do";
    EXPECT_EQ(end->code(), code::out_of_memory);
    EXPECT_EQ(end->pe(), 1);
    const std::string text = end->what();
    for (const char* wanted : {"PE 1 ", "60.0 MiB were requested", "are free", "largest block", "PGAS_HEAP_LIMIT"})
      EXPECT_NE(text.find(wanted), std::string::npos) << text;
    EXPECT_EQ(at.heap->usage().mapped, 42 * MiB);
    at.leave();
  }));
}

TEST(handle_kinds, two_pes_failing_at_once_give_one_error) {
  expect_no_error(run_threads(3, [](bootstrap& exchange) {
    heap_pe at(exchange);
    if (at.me != 0) at.device.fail_at(at.me == 1 ? step::map : step::create, 1);
    const auto end = thrown_by([&] { static_cast<void>(at.heap->allocate(16 * MiB, 16)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->pe(), 2) << "what failed first: PE 1 never came to its step";
    at.device.heal();
    static_cast<void>(at.allocate<std::byte>(16 * MiB));
    at.leave();
  }));
}

}  // namespace
}  // namespace pgas::unit_test
