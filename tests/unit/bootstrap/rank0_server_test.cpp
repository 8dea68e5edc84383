/// @file
/// The operating system refuses a request: to start a thread, to return random bits, or to look up a name.
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "bootstrap/tcp/unique_id.hpp"
#include "common/deadline.hpp"
#include "common/net/handshake.hpp"
#include "common/net/socket.hpp"
#include "support.hpp"

namespace {

std::atomic<bool> random_bits_run_out = false;
constexpr std::string_view name_of_slow_host = "slow.invalid";

}  // namespace

// The linker prefers these functions to those of the C library.
extern "C" int getentropy(void* to, std::size_t bytes) {
  if (!random_bits_run_out) return ::getrandom(to, bytes, 0) == static_cast<ssize_t>(bytes) ? 0 : -1;
  errno = EIO;
  return -1;
}
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* wanted, addrinfo** found) {
  if (name != nullptr && name == name_of_slow_host && (wanted->ai_flags & AI_NUMERICHOST) == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    return EAI_AGAIN;
  }
  return reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, wanted, found);
}

namespace pgas::boot::test {
namespace {

/// While an object of this class exists, no thread can be started, because the requested stack does not fit into
/// memory.
class no_threads {
 public:
  no_threads() {
    pthread_attr_t huge;
    EXPECT_EQ(::pthread_getattr_default_np(&usual_), 0);
    EXPECT_EQ(::pthread_attr_init(&huge), 0);
    EXPECT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 60), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
  }
  ~no_threads() {
    EXPECT_EQ(::pthread_setattr_default_np(&usual_), 0);
    ::pthread_attr_destroy(&usual_);
  }
  no_threads(const no_threads&) = delete;
  no_threads& operator=(const no_threads&) = delete;

 private:
  pthread_attr_t usual_;
};

TEST(server, that_gets_no_thread_is_an_error_and_leaves_the_signals_alone) {
  const std::string id = make_unique_id();
  sigset_t blocked;
  {
    const no_threads here;
    const error e = thrown_by([&] { (void)make_bootstrap(member_of(id, 0, 2)); });
    EXPECT_EQ(e.code(), code::system);
    EXPECT_SAYS(e, "starting a thread: ");
  }
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
  EXPECT_EQ(::sigismember(&blocked, SIGINT), 0);
  run_all(2, [&](int rank) { exchange_everything(*make_bootstrap(member_of(id, rank, 2)).exchange); });
}

TEST(server, a_failure_of_its_thread_ends_the_calls_of_all_ranks) {
  const std::string id = make_unique_id();
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    chosen_bootstrap mine = make_bootstrap(member_of(id, rank, 2));
    mine.exchange->barrier();
    if (rank == 1) {
      const tcp_address to = unique_id::parse(id).addresses.back();
      const unique_fd stranger{::socket(to.family(), SOCK_STREAM, 0)};
      ASSERT_EQ(::connect(stranger.get(), to.raw(), to.length()), 0);
      random_bits_run_out = true;
      // The answer of the server needs a nonce.
      ASSERT_EQ(send_all(stranger.get(), bytes_of(hello{}), deadline{seconds(5)}), 0);
      EXPECT_TRUE(wait_for_events(stranger.get(), POLLIN, deadline{seconds(10)})) << "the connection is still open";
      random_bits_run_out = false;
    }
    const error first = thrown_by([&] { mine.exchange->barrier(); });
    if (rank == 0) {
      const error second = thrown_by([&] { (void)make_bootstrap(member_of(id, 0, 2)); });
      EXPECT_EQ(second.code(), code::system);
      EXPECT_SAYS(second, "leave them, then join again");
    }
    const auto began = clock::now();
    mine.exchange.reset();
    EXPECT_LT(clock::now() - began, seconds(2)) << "leaving waited for a thread that is gone";
    throw first;
  });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::system);
    EXPECT_SAYS(*e, "getentropy");
  }
  run_all(2, [&](int rank) { exchange_everything(*make_bootstrap(member_of(id, rank, 2)).exchange); });
}

TEST(look_up, that_takes_too_long_ends_at_the_time_limit) {
  bootstrap_options nowhere = member_at(1, 1, 2, milliseconds(300));
  nowhere.master_address = name_of_slow_host;
  const auto began = clock::now();
  const error e = thrown_by([&] { (void)make_bootstrap(nowhere); });
  EXPECT_LT(clock::now() - began, seconds(2));
  EXPECT_EQ(e.code(), code::bootstrap_timeout);
  EXPECT_SAYS(e, "looking up 'slow.invalid' took too long");
}

TEST(look_up, that_gets_no_thread_is_an_error) {
  bootstrap_options named = member_at(1, 1, 2);
  named.master_address = name_of_slow_host;
  const no_threads here;
  const error e = thrown_by([&] { (void)make_bootstrap(named); });
  EXPECT_EQ(e.code(), code::system);
  EXPECT_SAYS(e, "starting a thread: ");
}

}  // namespace
}  // namespace pgas::boot::test
