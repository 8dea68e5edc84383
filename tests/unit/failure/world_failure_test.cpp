// PEs that fail, leave or die while others wait for them, on one host or on several.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>

#include "common/net/unix_socket.hpp"
#include "common/process_identity.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using clock = std::chrono::steady_clock;

// PEs on several hosts, or all on one host.
class failure_on_hosts : public testing::TestWithParam<bool> {
 protected:
  static std::vector<int> hosts(std::vector<int> several) {
    return GetParam() ? several : std::vector<int>(several.size());
  }
  static std::string name_of(int host) {
    return GetParam() ? "host-" + std::to_string(host) : pgas::detail::host_name();
  }
};
INSTANTIATE_TEST_SUITE_P(failure, failure_on_hosts, testing::Bool(),
                         [](const auto& at) { return at.param ? "several" : "one"; });

TEST_P(failure_on_hosts, fail_wakes_everyone_with_the_reason_and_tells_each_pe_once) {
  std::atomic<int> told{0};
  const auto ends = run_threads_on(hosts({0, 0, 1, 1}), [&](bootstrap& exchange) {
    std::atomic<int> told_here{0};
    joined_pe pe(exchange, quick(), [&](const error& cause) {
      EXPECT_EQ(cause.code(), code::aborted);
      EXPECT_EQ(cause.pe(), 2);
      ++told;
      ++told_here;
    });
    pe.control_plane.barrier();
    if (pe.control_plane.my_pe() == 2) {
      EXPECT_FALSE(pe.control_plane.failed());
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      pe.control_plane.fail("the soup is cold");
      pe.control_plane.fail("a second reason");
    }
    const auto end = thrown_by([&] { pe.control_plane.barrier(); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::aborted);
    EXPECT_EQ(end->pe(), 2);
    EXPECT_TRUE(says(end, "PE 2 (host " + name_of(1))) << end->what();
    EXPECT_TRUE(says(end, "the soup is cold")) << end->what();
    EXPECT_TRUE(pe.control_plane.failed());
    EXPECT_TRUE(thrown_by([&] { pe.control_plane.check(); }));
    EXPECT_EQ(thrown_by([&] { static_cast<void>(pe.control_plane.all_gather({})); })->code(), code::aborted);
    EXPECT_EQ(thrown_by([&] { pe.control_plane.leave(); })->code(), code::aborted);
    while (told_here == 0) std::this_thread::yield();
    EXPECT_EQ(told_here, 1);
  });
  expect_no_error(ends);
  EXPECT_EQ(told, 4);
}

TEST(control_plane_failure, fail_may_be_called_from_any_thread_of_a_waiting_pe) {
  expect_no_error(run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    std::thread other([&] {
      if (pe.control_plane.my_pe() != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      pe.control_plane.fail("from aside");
    });
    if (pe.control_plane.my_pe() == 0) {
      EXPECT_EQ(thrown_by([&] { pe.control_plane.barrier(); })->code(), code::aborted);
    } else {
      while (!pe.control_plane.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    other.join();
  }));
}

TEST(control_plane_failure, alone_fail_works_too) {
  run_threads(1, [](bootstrap& exchange) {
    int told = 0;
    joined_pe pe(exchange, quick(), [&](const error&) { ++told; });
    pe.control_plane.barrier();
    pe.control_plane.fail("enough");
    EXPECT_EQ(told, 1);
    EXPECT_EQ(thrown_by([&] { pe.control_plane.barrier(); })->code(), code::aborted);
  });
}

TEST_P(failure_on_hosts, the_cause_is_heard_before_the_end_of_whoever_heard_it_first) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto ends = run_threads_on(hosts({0, 1, 0, 1}), [](bootstrap& exchange) {
      joined_pe pe(exchange);
      pe.control_plane.barrier();
      if (pe.control_plane.my_pe() == 1) {
        pe.control_plane.fail("root cause");
        return;
      }
      pe.control_plane.barrier();  // the barrier throws; then this PE ends without leaving
    });
    for (const std::size_t pe : {0u, 2u, 3u}) {
      ASSERT_TRUE(ends[pe]);
      EXPECT_EQ(ends[pe]->code(), code::aborted) << ends[pe]->what();
      EXPECT_EQ(ends[pe]->pe(), 1);
    }
  }
}

TEST_P(failure_on_hosts, a_pe_that_is_destroyed_without_leaving_is_named_to_those_who_wait) {
  const holdings before = count_holdings();
  const auto ends = run_threads_on(hosts({0, 1, 0}), [](bootstrap& exchange) {
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
    const std::string pid = std::to_string(::getpid());
    EXPECT_TRUE(says(ends[pe], "PE 1 (host " + name_of(1) + ", pid " + pid + ") ended without leaving the world"))
        << ends[pe]->what();
  }
  EXPECT_EQ(settle_at(before), before);
}

TEST_P(failure_on_hosts, a_round_that_makes_all_pes_end_is_completed_on_all) {
  // Simulates that all PEs learn from an exchange that the heap cannot be made. The end of the first PE must not break
  // the exchange for the others.
  for (int repeat = 0; repeat < 50; ++repeat) {
    expect_no_error(run_threads_on(hosts({0, 0, 1, 1}), [](bootstrap& exchange) {
      joined_pe pe(exchange);
      for (int round = 0; round < 3; ++round) static_cast<void>(pe.control_plane.all_gather(bytes_of("bad news")));
    }));
  }
}

TEST_P(failure_on_hosts, a_pe_that_leaves_while_others_go_on_is_named) {
  const auto ends = run_threads_on(hosts({0, 1, 1}), [](bootstrap& exchange) {
    joined_pe pe(exchange);
    pe.control_plane.barrier();
    if (pe.control_plane.my_pe() == 2)
      pe.control_plane.leave();
    else
      static_cast<void>(pe.control_plane.all_gather({}));
  });
  expect_all(ends, code::asymmetric_call, 2, "leaves the world");
}

TEST(control_plane_failure, different_collectives_are_noticed) {
  const auto ends = run_threads(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    if (pe.control_plane.my_pe() == 0)
      pe.control_plane.barrier();
    else
      static_cast<void>(pe.control_plane.all_gather({}));
  });
  expect_all(ends, code::asymmetric_call);
}

TEST(control_plane_failure, a_time_limit_names_who_is_missing) {
  std::atomic<int> given_up{0};
  const auto ends = run_threads(3, [&](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(200);
    joined_pe pe(exchange, settings);
    if (pe.control_plane.my_pe() == 1) {
      while (given_up < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      // The other PEs called the first barrier before their time limit, so the first barrier can still complete. No
      // later barrier completes.
      auto late = thrown_by([&] { pe.control_plane.barrier(); });
      if (!late) late = thrown_by([&] { pe.control_plane.barrier(); });
      ASSERT_TRUE(late);
      EXPECT_EQ(late->code(), code::wait_timeout);
      return;
    }
    const auto end = thrown_by([&] { pe.control_plane.barrier(); });
    ++given_up;
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::wait_timeout);
    EXPECT_EQ(end->pe(), 1);
    EXPECT_NE(std::string(end->what()).find("PE 1 ("), std::string::npos) << end->what();
    const std::string others = std::string(end->what()).substr(std::string(end->what()).find(" call for "));
    EXPECT_EQ(others.find("PE 0"), std::string::npos) << end->what();
    EXPECT_EQ(others.find("PE 2"), std::string::npos) << end->what();
  });
  expect_no_error(ends);
}

TEST(control_plane_failure, a_failure_is_logged_once) {
  const scratch_folder folder;
  run_threads(2, [&](bootstrap& exchange) {
    config settings = quick();
    settings.log_file = folder.path() + "/log" + std::to_string(exchange.rank());
    joined_pe pe(exchange, settings);
    pe.control_plane.barrier();
    if (pe.control_plane.my_pe() == 1) return;
    EXPECT_TRUE(thrown_by([&] { pe.control_plane.barrier(); }));
    EXPECT_TRUE(thrown_by([&] { pe.control_plane.barrier(); }));
  });
  EXPECT_EQ(count_with(lines_of(folder.path() + "/log0"), "error: "), 1u);
  EXPECT_EQ(count_with(lines_of(folder.path() + "/log1"), "error: "), 0u);
}

TEST_P(failure_on_hosts, a_killed_process_is_named_within_two_seconds) {
  const auto ends = run_processes_on(hosts({0, 0, 1, 1}), [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(0);  // without a time limit, only the death ends the wait
    std::atomic<bool> told{false};
    joined_pe pe(exchange, settings, [&](const error&) { told = true; });
    const auto all = pe.control_plane.all_gather(bytes_of(std::to_string(::getpid())));
    const std::string victim = text_of(all[2].bytes);
    if (pe.control_plane.my_pe() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ::kill(::getpid(), SIGKILL);
    }
    const auto start = clock::now();
    const auto end = thrown_by([&] { static_cast<void>(pe.control_plane.all_gather(bytes_of("waiting"))); });
    require(clock::now() - start < std::chrono::seconds(2), "news within two seconds");
    require(end && end->code() == code::peer_lost && end->pe() == 2, end ? end->what() : "an error");
    require(says(end, "PE 2 (host " + name_of(1) + ", pid " + victim + ") ended without leaving the world"),
            end->what());
    require(told, "the callback was called");
  });
  for (std::size_t pe = 0; pe < ends.size(); ++pe) {
    EXPECT_EQ(ends[pe].signal, pe == 2 ? SIGKILL : 0);
    EXPECT_EQ(ends[pe].message, "");
  }
}

TEST(control_plane_failure, a_stopped_process_is_waited_for_and_a_full_queue_is_no_hang) {
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(700);
    joined_pe pe(exchange, settings);
    const auto all = pe.control_plane.all_gather(bytes_of(std::to_string(::getpid())));
    if (pe.control_plane.my_pe() == 1) {
      ::raise(SIGSTOP);
      return;
    }
    const pid_t stopped = std::stoi(text_of(all[1].bytes));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto end = thrown_by([&] { static_cast<void>(pe.control_plane.all_gather(blob(std::size_t{64} << 10))); });
    ::kill(stopped, SIGCONT);
    require(end && end->code() == code::wait_timeout && end->pe() == 1, end ? end->what() : "an error");
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(control_plane_failure, descriptors_that_do_not_fit_are_reported_and_none_leaks) {
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    const std::vector<int> many(40, STDOUT_FILENO);
    const std::size_t open_before = count_holdings().fds;
    if (pe.control_plane.my_pe() == 0) {
      const rlimit few{open_before + 10, open_before + 10};
      require(::setrlimit(RLIMIT_NOFILE, &few) == 0, "a lower limit");
    }
    pe.control_plane.barrier();
    {
      const auto all = pe.control_plane.all_gather(bytes_of("some"), many);
      const auto& theirs = all[static_cast<std::size_t>(1 - pe.control_plane.my_pe())];
      require(text_of(theirs.bytes) == "some", "the bytes are there");
      require(theirs.fds_lost == (pe.control_plane.my_pe() == 0), "the loss is seen where the limit is low");
      require(theirs.fds.size() == (pe.control_plane.my_pe() == 0 ? 0u : many.size()), "all or none");
    }
    require(count_holdings().fds == open_before, "no descriptor left");
    pe.control_plane.barrier();  // all PEs are in the same call
    pe.control_plane.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(control_plane_failure, descriptors_wait_while_too_many_of_the_user_are_on_their_way) {
  const auto ends = run_processes(2, [](bootstrap& exchange) {
    joined_pe pe(exchange);
    pe.control_plane.barrier();
    std::thread reader;
    const auto start = clock::now();
    if (pe.control_plane.my_pe() == 0) {
      // The limit of descriptors in flight does not apply to a privileged process. If setresuid() fails, this process
      // was not privileged before, so the limit applies to this process anyway.
      const bool unprivileged = ::setresuid(65534, 65534, 65534) == 0;
      static_cast<void>(unprivileged);
      const std::vector<int> many(detail::max_fds_per_packet, STDOUT_FILENO);
      const rlimit few{detail::max_fds_per_packet, detail::max_fds_per_packet};
      require(::setrlimit(RLIMIT_NOFILE, &few) == 0, "a lower limit");
      int pair[2];
      require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "a pair of sockets");
      const auto send = [&] { return detail::send_packet(pair[0], bytes_of("unread"), {}, many); };
      int refused = 0;
      for (int i = 0; i < 4 && refused == 0; ++i) refused = send();
      require(refused == ETOOMANYREFS, "too many descriptors on their way");
      reader = std::thread([pair] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ::close(pair[0]);
        ::close(pair[1]);
      });
    }
    const int mine = STDOUT_FILENO;
    const auto thrown = thrown_by([&] {
      const auto all = pe.control_plane.all_gather(bytes_of("some"), std::span(&mine, 1));
      require(all[static_cast<std::size_t>(1 - pe.control_plane.my_pe())].fds.size() == 1, "the descriptor");
      pe.control_plane.leave();
      require(clock::now() - start >= std::chrono::milliseconds(200), "the descriptor of PE 0 waited");
    });
    if (reader.joinable()) reader.join();
    require(!thrown, thrown ? thrown->what() : "");
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

TEST(control_plane_failure, a_low_limit_of_descriptors_is_raised_where_that_is_allowed) {
  const auto ends = run_processes(4, [](bootstrap& exchange) {
    rlimit limit{};
    require(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit");
    // Too few descriptors for a listener and for a socket to each of the other PEs.
    limit.rlim_cur = count_holdings().fds + 3;
    require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "a lower limit");
    joined_pe pe(exchange);
    pe.control_plane.barrier();
    pe.control_plane.leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.message, "");
}

}  // namespace
}  // namespace pgas::unit_test
