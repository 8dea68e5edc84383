// PEs of several hosts that fail, leave, die or fall silent.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

TEST(hosts_failure, fail_wakes_everyone_with_the_reason) {
  std::atomic<int> told{0};
  const auto ends = run_threads_on({0, 0, 1, 1}, [&](bootstrap& exchange) {
    std::atomic<int> told_here{0};
    joined_pe pe(exchange, quick(), [&](const error& cause) {
      EXPECT_EQ(cause.code(), code::aborted);
      EXPECT_EQ(cause.pe(), 2);
      ++told;
      ++told_here;
    });
    if (pe.control_plane.my_pe() == 2) pe.control_plane.fail("the soup is cold");
    const auto end = thrown_by([&] { pe.control_plane.barrier(); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::aborted);
    EXPECT_EQ(end->pe(), 2);
    EXPECT_TRUE(says(end, "PE 2 (host host-1")) << end->what();
    EXPECT_TRUE(says(end, "the soup is cold")) << end->what();
    EXPECT_EQ(thrown_by([&] { pe.control_plane.leave(); })->code(), code::aborted);
    while (told_here == 0) std::this_thread::yield();
    EXPECT_EQ(told_here, 1);
  });
  for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
  EXPECT_EQ(told, 4);
}

TEST(hosts_failure, the_cause_is_heard_before_the_end_of_whoever_heard_it_first) {
  for (int repeat = 0; repeat < 10; ++repeat) {
    const auto ends = run_threads_on({0, 1, 0, 1}, [](bootstrap& exchange) {
      joined_pe pe(exchange);
      pe.control_plane.barrier();
      if (pe.control_plane.my_pe() == 1) {
        pe.control_plane.fail("root cause");
        return;
      }
      pe.control_plane.barrier();  // throws; then this PE ends without leaving
    });
    for (const std::size_t pe : {0u, 2u, 3u}) {
      ASSERT_TRUE(ends[pe]);
      EXPECT_EQ(ends[pe]->code(), code::aborted) << ends[pe]->what();
      EXPECT_EQ(ends[pe]->pe(), 1);
    }
  }
}

TEST(hosts_failure, a_round_that_makes_all_pes_end_is_completed_on_all) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto ends = run_threads_on({0, 0, 1, 1}, [](bootstrap& exchange) {
      joined_pe pe(exchange);
      for (int round = 0; round < 3; ++round) static_cast<void>(pe.control_plane.all_gather(bytes_of("bad news")));
    });
    for (const auto& end : ends) EXPECT_FALSE(end) << end->what();
  }
}

TEST(hosts_failure, a_pe_that_is_destroyed_without_leaving_is_named_with_its_host) {
  const holdings before = count_holdings();
  const auto ends = run_threads_on({0, 1, 0}, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    pe.control_plane.barrier();
    if (pe.control_plane.my_pe() == 1) return;
    pe.control_plane.barrier();
  });
  EXPECT_FALSE(ends[1]);
  for (const std::size_t pe : {0u, 2u}) {
    ASSERT_TRUE(ends[pe]);
    EXPECT_EQ(ends[pe]->code(), code::peer_lost) << ends[pe]->what();
    EXPECT_EQ(ends[pe]->pe(), 1);
    EXPECT_TRUE(says(ends[pe], "PE 1 (host host-1, pid " + std::to_string(::getpid()) + ") ended without leaving"))
        << ends[pe]->what();
  }
  EXPECT_EQ(settle_at(before), before);
}

TEST(hosts_failure, a_pe_that_leaves_while_others_go_on_is_named) {
  const auto ends = run_threads_on({0, 1, 1}, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    pe.control_plane.barrier();
    if (pe.control_plane.my_pe() == 2)
      pe.control_plane.leave();
    else
      static_cast<void>(pe.control_plane.all_gather({}));
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::asymmetric_call) << end->what();
    EXPECT_EQ(end->pe(), 2);
  }
}

TEST(hosts_failure, a_time_limit_names_who_is_missing) {
  const auto ends = run_threads_on({0, 0, 1}, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(1500);  // enough for the other PEs on a busy machine
    joined_pe pe(exchange, settings);
    if (pe.control_plane.my_pe() != 2) pe.control_plane.barrier();
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pe.control_plane.check();
  });
  for (const auto& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::wait_timeout) << end->what();
    EXPECT_EQ(end->pe(), 2);
  }
}

TEST(hosts_failure, a_killed_process_of_another_host_is_named) {
  const auto ends = run_processes_on({0, 0, 1, 1}, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(0);  // only the death itself may end the wait
    std::atomic<bool> told{false};
    joined_pe pe(exchange, settings, [&](const error&) { told = true; });
    const auto all = pe.control_plane.all_gather(bytes_of(std::to_string(::getpid())));
    if (pe.control_plane.my_pe() == 2) ::kill(::getpid(), SIGKILL);
    const auto end = thrown_by([&] { static_cast<void>(pe.control_plane.all_gather(bytes_of("waiting"))); });
    require(end && end->code() == code::peer_lost && end->pe() == 2, end ? end->what() : "an error");
    require(says(end, "PE 2 (host host-1, pid " + text_of(all[2].bytes) + ") ended without leaving the world"),
            end->what());
    require(told, "the callback was called");
  });
  for (std::size_t pe = 0; pe < ends.size(); ++pe) {
    EXPECT_EQ(ends[pe].signal, pe == 2 ? SIGKILL : 0);
    EXPECT_EQ(ends[pe].message, "");
  }
}

TEST(hosts_failure, a_process_of_another_host_that_stops_is_lost_after_the_limit) {
  const auto ends = run_processes_on({0, 1}, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(0);
    settings.heartbeat_timeout = std::chrono::milliseconds(1000);
    joined_pe pe(exchange, settings);
    const auto all = pe.control_plane.all_gather(bytes_of(std::to_string(::getpid())));
    if (pe.control_plane.my_pe() == 1) {
      ::raise(SIGSTOP);
      // When the PE continues, it receives the failure from the other PEs. The barrier of the other PEs may still
      // complete.
      const auto end = thrown_by([&] {
        for (;;) pe.control_plane.barrier();
      });
      require(end && end->code() == code::peer_lost && end->pe() == 1, end ? end->what() : "an error");
      return;
    }
    const auto end = thrown_by([&] { pe.control_plane.barrier(); });
    ::kill(std::stoi(text_of(all[1].bytes)), SIGCONT);
    require(end && end->code() == code::peer_lost && end->pe() == 1, end ? end->what() : "an error");
    require(says(end, "PE 1 (host host-1, pid "), end->what());
    require(says(end, "has not been heard of for 1 s") && says(end, "PGAS_HEARTBEAT_TIMEOUT"), end->what());
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(hosts_failure, a_stopped_process_of_the_same_host_is_waited_for) {
  const auto ends = run_processes_on({0, 0, 1}, [](bootstrap& exchange) {
    config settings = quick();
    settings.heartbeat_timeout = std::chrono::milliseconds(60'000);
    settings.wait_timeout = std::chrono::milliseconds(2000);
    joined_pe pe(exchange, settings);
    const auto all = pe.control_plane.all_gather(bytes_of(std::to_string(::getpid())));
    if (pe.control_plane.my_pe() == 1) {
      ::raise(SIGSTOP);
      return;
    }
    const auto end = thrown_by([&] {
      for (;;) static_cast<void>(pe.control_plane.all_gather(blob(std::size_t{64} << 10)));
    });
    if (pe.control_plane.my_pe() == 0) ::kill(std::stoi(text_of(all[1].bytes)), SIGCONT);
    require(end && end->code() == code::wait_timeout && end->pe() == 1, end ? end->what() : "an error");
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

}  // namespace
}  // namespace pgas::unit_test
