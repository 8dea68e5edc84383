// PEs of several hosts that do not take part, stop or fall silent.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

TEST(hosts_failure, a_time_limit_names_who_is_missing) {
  const auto ends = run_threads_on({0, 0, 1}, [](bootstrap& exchange) {
    config settings = quick();
    // This limit is long enough for the PEs that take part, even on a busy machine.
    settings.wait_timeout = std::chrono::milliseconds(1500);
    joined_pe pe(exchange, settings);
    if (pe.control_plane.my_pe() != 2) pe.control_plane.barrier();
    while (!pe.control_plane.failed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pe.control_plane.check();
  });
  expect_all(ends, code::wait_timeout, 2);
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
      // When PE 1 continues, it receives the failure from the other PEs. A barrier that the other PEs have called
      // before can still complete.
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
