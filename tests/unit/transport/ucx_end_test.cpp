/// @file
/// UCX with PEs that die, hang or disconnect. Each loss is reported once, and no process crashes or hangs.
///
/// The PEs are separate processes, forked before UCX starts here. The test checks their exit status.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "ucx_kinds.hpp"

namespace pgas_test {
namespace {

/// One of two PEs, in a separate process.
class lone_pe {
 public:
  lone_pe(int me, int socket, const transport_kind& kind, std::size_t memory_bytes)
      : socket_(socket), memory(memory_bytes), pe(me, std::move(kind.make(me + 1).back()), nobody_, arrived_) {
    std::vector<blob> addresses{pe.link->address(), swap(pe.link->address())};
    if (me == 1) std::swap(addresses[0], addresses[1]);
    pe.link->connect(std::move(addresses), pe);
    theirs = pe.link->import_memory(1 - me, swap(pe.expose(memory).key));
  }

  /// Exchanges bytes with the other PE. The call is also a barrier.
  blob swap(const blob& mine) const {
    const std::size_t bytes = mine.size();
    std::size_t their_bytes = 0;
    require(::write(socket_, &bytes, sizeof bytes) == sizeof bytes);
    require(::write(socket_, mine.data(), bytes) == static_cast<ssize_t>(bytes));
    require(::recv(socket_, &their_bytes, sizeof their_bytes, MSG_WAITALL) == sizeof their_bytes);
    blob other(their_bytes);
    require(::recv(socket_, other.data(), other.size(), MSG_WAITALL) == static_cast<ssize_t>(other.size()));
    return other;
  }

  [[nodiscard]] int socket() const { return socket_; }

  static void require(bool held) {
    if (!held) throw std::runtime_error("did not hold");
  }

 private:
  const int socket_;
  test_pe::everyone nobody_;
  std::atomic<int> arrived_{0};

 public:
  blob memory;
  test_pe pe;
  std::uint64_t theirs = 0;  ///< the imported memory of the other PE
};

using body = std::function<void(lone_pe&)>;

[[nodiscard]] pid_t start(int me, const std::array<int, 2>& sockets, const transport_kind& kind,
                          std::size_t memory_bytes, const body& run) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::close(sockets[static_cast<std::size_t>(1 - me)]);
  try {
    lone_pe pe(me, sockets[static_cast<std::size_t>(me)], kind, memory_bytes);
    run(pe);
    pe.pe.link.reset();
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "PE %d: %s\n", me, failed.what());
    ::_exit(2);
  }
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

/// The exit status of both processes, as a shell reports it. A process that has ended is reaped immediately, because
/// UCX checks whether the process exists. A stopped or hanging process is killed when the other process has ended.
struct ends {
  int first = -1;
  int second = -1;
  bool operator==(const ends&) const = default;
};
void PrintTo(const ends& both, std::ostream* out) { *out << both.first << " and " << both.second; }

constexpr ends both_well{0, 0};
constexpr ends second_killed{0, 128 + SIGKILL};

[[nodiscard]] ends ends_of(pid_t first, pid_t second) {
  const auto give_up = std::chrono::steady_clock::now() + seconds(50);
  ends both;
  bool stopped = false;
  while (both.first < 0 || both.second < 0) {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (child > 0 && WIFSTOPPED(status)) {
      stopped = true;
    } else if (child > 0) {
      (child == first ? both.first : both.second) = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    } else {
      ::usleep(1000);
    }
    if (stopped && both.first >= 0 && both.second < 0) ::kill(second, SIGKILL);
    if (std::chrono::steady_clock::now() > give_up) {
      ADD_FAILURE() << "hangs: " << (both.first < 0 ? "PE 0 " : "") << (both.second < 0 ? "PE 1" : "");
      if (both.first < 0) ::kill(first, SIGKILL);
      if (both.second < 0) ::kill(second, SIGKILL);
    }
  }
  return both;
}

/// Runs PE 0 and PE 1 until both processes have ended.
[[nodiscard]] ends run_two(const transport_kind& kind, std::size_t memory_bytes, const body& first,
                           const body& second) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) != 0) throw std::runtime_error("socketpair");
  const pid_t item = start(0, sockets, kind, memory_bytes, first);
  const pid_t two = start(1, sockets, kind, memory_bytes, second);
  for (const int socket : sockets) ::close(socket);
  return ends_of(item, two);
}

class ucx_end : public testing::TestWithParam<transport_kind> {};
INSTANTIATE_TEST_SUITE_P(transports, ucx_end, testing::ValuesIn(ucx_kinds()),
                         [](const auto& item) { return item.param.name; });

constexpr std::size_t megabytes = 4 << 20;

/// Waits until the other PE is lost, then disconnects.
void leave_after_loss(lone_pe& mine) {
  mine.pe.until([&] { return !mine.pe.losses.empty(); }, "the loss");
  EXPECT_EQ(mine.pe.losses.front().first, 1 - mine.pe.me);
  mine.pe.link->disconnect(seconds(5));
}

/// Keeps puts, gets and messages in flight until the other PE is lost; then disconnects.
void work_until_lost(lone_pe& mine) {
  test_pe& pe = mine.pe;
  blob source(megabytes);
  blob target(megabytes);
  const blob message(3000);
  std::size_t begun = 0;
  while (pe.losses.empty()) {
    if (begun - pe.done_count.size() < 8) {
      pe.put(mine.theirs, 0, source.data(), source.size());
      pe.get(mine.theirs, 0, target.data(), target.size());
      pe.send(1, message);
      begun += 3;
    }
    if (!pe.link->progress()) pe.link->wait(milliseconds(20));
  }
  EXPECT_EQ(pe.losses.front().first, 1);
  EXPECT_FALSE(pe.losses.front().second.empty());
  const std::size_t done = pe.done_count.size();
  pe.send(1, message);  // this message has no effect, and no event reports it
  pe.put(mine.theirs, 0, source.data(), source.size());
  pe.link->forget(mine.theirs);
  for (int i = 0; i < 100; ++i) (void)pe.link->progress();
  EXPECT_EQ(pe.losses.size(), 1u) << "reported twice";
  EXPECT_EQ(pe.done_count.size(), done);
  pe.link->disconnect(seconds(5));
}

void work_until(lone_pe& mine, std::size_t messages, int signal) {
  mine.pe.until_messages(messages);
  ::raise(signal);
}

TEST_P(ucx_end, a_pe_killed_at_work_is_lost_once) {
  for (const std::size_t messages : {1u, 2u, 4u, 9u}) {
    const auto until_killed = [&](lone_pe& mine) { work_until(mine, messages, SIGKILL); };
    ASSERT_EQ(run_two(GetParam(), megabytes, work_until_lost, until_killed), second_killed);
  }
}

TEST_P(ucx_end, a_pe_killed_while_idle_is_lost) {
  const ends both = run_two(
      GetParam(), 64,
      [](lone_pe& mine) {
        const blob message(8);
        mine.pe.send(1, message);
        mine.pe.until_done();
        leave_after_loss(mine);
      },
      [&](lone_pe& mine) { work_until(mine, 1, SIGKILL); });
  EXPECT_EQ(both, second_killed);
}

// PE 0 has only received a message from PE 1, and still detects the death of PE 1.
TEST_P(ucx_end, a_pe_that_only_receives_learns_of_a_death) {
  const ends both = run_two(
      GetParam(), 64,
      [](lone_pe& mine) {
        mine.pe.until_messages(1);
        mine.require(::write(mine.socket(), "!", 1) == 1);
        leave_after_loss(mine);
      },
      [&](lone_pe& mine) {
        const blob message(8);
        mine.pe.send(0, message);
        const auto heard = [&, mark = char{}]() mutable { return ::recv(mine.socket(), &mark, 1, MSG_DONTWAIT) == 1; };
        mine.pe.until(heard, "the message to be heard", milliseconds(10));
        ::raise(SIGKILL);
      });
  EXPECT_EQ(both, second_killed);
}

TEST_P(ucx_end, a_pe_that_was_already_dead_is_lost_at_the_first_use) {
  const ends both = run_two(
      GetParam(), 64,
      [](lone_pe& mine) {
        char end = 0;
        mine.require(::recv(mine.socket(), &end, 1, 0) == 0);
        const blob message(8);
        mine.pe.send(1, message);
        leave_after_loss(mine);
      },
      [](lone_pe&) { ::raise(SIGKILL); });
  EXPECT_EQ(both, second_killed);
}

// PE 1 stops with operations in flight. The disconnect of PE 0 still takes a limited time.
TEST_P(ucx_end, leaving_does_not_wait_for_a_pe_that_hangs) {
  for (std::size_t messages = 1; messages <= 3; ++messages) {
    const ends both = run_two(
        GetParam(), megabytes,
        [](lone_pe& mine) {
          test_pe& pe = mine.pe;
          const blob source(megabytes);
          const blob message(3000);
          for (int i = 0; i < 6; ++i) {
            pe.put(mine.theirs, 0, source.data(), source.size());
            pe.send(1, message);
          }
          const auto until = std::chrono::steady_clock::now() + milliseconds(300);
          while (std::chrono::steady_clock::now() < until) (void)pe.link->progress();
          const auto begin = std::chrono::steady_clock::now();
          pe.link->disconnect(milliseconds(300));
          EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
        },
        [&](lone_pe& mine) { work_until(mine, messages, SIGSTOP); });
    ASSERT_EQ(both, second_killed);
  }
}

// Simulates a program that ends by an exception: the transport is destroyed with operations in flight.
TEST_P(ucx_end, a_pe_that_ends_without_leaving_does_no_harm) {
  for (const int calls : {0, 1, 3, 1000}) {
    const ends both = run_two(
        GetParam(), megabytes,
        [&](lone_pe& mine) {
          blob source(megabytes);
          const blob message(3000);
          for (int i = 0; i < 6; ++i) {
            mine.pe.put(mine.theirs, 0, source.data(), source.size());
            mine.pe.get(mine.theirs, 0, mine.memory.data(), mine.memory.size());
            mine.pe.send(1, message);
          }
          mine.pe.until_messages(1);
          for (int i = 0; i < calls; ++i) (void)mine.pe.link->progress();
          mine.pe.link.reset();
        },
        [](lone_pe& mine) {
          const blob message(8);
          mine.pe.send(0, message);
          leave_after_loss(mine);
        });
    ASSERT_EQ(both, both_well);
  }
}

TEST_P(ucx_end, both_leave_at_once_without_a_loss) {
  for (int round = 0; round < 25; ++round) {
    const auto leave = [&](lone_pe& mine) {
      test_pe& pe = mine.pe;
      const blob source(50'000);
      const blob message(3000);
      for (int i = 0; i < 5; ++i) {
        pe.put(mine.theirs, 0, source.data(), source.size());
        pe.send(1 - pe.me, message);
      }
      pe.until_messages(5);
      pe.until_done();
      // A PE that is done makes progress for a while. Meanwhile the other PE can disconnect.
      for (int i = 0; i < 50 * pe.me * round; ++i) (void)pe.link->progress();
      pe.link->disconnect(seconds(30));
      EXPECT_TRUE(pe.losses.empty()) << pe.losses.front().second;
    };
    ASSERT_EQ(run_two(GetParam(), 50'000, leave, leave), both_well);
  }
}

}  // namespace
}  // namespace pgas_test
