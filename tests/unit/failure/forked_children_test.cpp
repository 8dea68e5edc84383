// PEs that fork without exec, as Python's multiprocessing does. A child has all sockets of its PE, and may outlive the
// PE.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "comes.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using clock = std::chrono::steady_clock;
using pgas_test::comes;

/// A counter that a process shares with the processes that it forks later.
class shared_count {
 public:
  shared_count()
      : count_(static_cast<std::atomic<int>*>(
            ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~shared_count() { ::munmap(count_, sizeof(std::atomic<int>)); }
  shared_count(const shared_count&) = delete;
  shared_count& operator=(const shared_count&) = delete;
  std::atomic<int>& operator*() const { return *count_; }

 private:
  std::atomic<int>* const count_;
};

TEST(control_plane_children, a_killed_process_is_named_while_a_child_of_it_has_its_sockets) {
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (process < 0) GTEST_SKIP() << "this system tells nobody when a process ends (pidfd_open)";
  ::close(process);
  const shared_count noticed;
  const auto ends = run_processes(4, [&](bootstrap& exchange) {
    config settings = quick();
    settings.wait_timeout = std::chrono::milliseconds(0);
    joined_pe pe(exchange, settings);
    pe.control_plane.barrier();
    if (pe.control_plane.my_pe() == 2) {
      if (::fork() == 0) {
        static_cast<void>(comes([&] { return *noticed == 3; }));
        ::_exit(0);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ::kill(::getpid(), SIGKILL);
    }
    const auto start = clock::now();
    const auto end = thrown_by([&] { pe.control_plane.barrier(); });
    require(clock::now() - start < std::chrono::seconds(5), "news before the child ends");
    require(end && end->code() == code::peer_lost && end->pe() == 2, end ? end->what() : "an error");
    ++*noticed;
  });
  for (std::size_t pe = 0; pe < ends.size(); ++pe) EXPECT_EQ(ends[pe].message, "");
}

TEST(control_plane_children, the_last_words_of_a_killed_process_count_while_a_child_of_it_has_its_sockets) {
  const shared_count heard;
  const auto ends = run_processes(2, [&](bootstrap& exchange) {
    joined_pe pe(exchange);
    const pid_t other = std::stoi(text_of(pe.control_plane.all_gather(bytes_of(std::to_string(::getpid())))[0].bytes));
    if (pe.control_plane.my_pe() == 0) {
      ::raise(SIGSTOP);  // the PE stops, and receives the messages and the death together later
    } else {
      static_cast<void>(comes([&] {
        const auto stat = lines_of("/proc/" + std::to_string(other) + "/stat");
        return !stat.empty() && stat[0].find(") T") != std::string::npos;
      }));
      pe.control_plane.fail("it was the cook");
      const pid_t parent = ::getpid();
      if (::fork() == 0) {
        static_cast<void>(comes([&] { return ::getppid() != parent; }));
        ::kill(other, SIGCONT);
        static_cast<void>(comes([&] { return *heard == 1; }));
        ::_exit(0);
      }
      ::kill(parent, SIGKILL);
    }
    const auto end = thrown_by([&] { pe.control_plane.barrier(); });
    require(end && end->code() == code::aborted && says(end, "it was the cook"), end ? end->what() : "an error");
    ++*heard;
  });
  EXPECT_EQ(ends[0].message, "");
}

}  // namespace
}  // namespace pgas::unit_test
