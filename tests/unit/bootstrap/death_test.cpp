/// @file
/// When a process dies, all other processes get an error with the rank immediately.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/deadline.hpp"
#include "support.hpp"

namespace pgas::boot::test {
namespace {

/// Rank `victim` is a process that joins and is killed. The other two ranks are threads of the test, which must get the
/// error.
void kill_and_expect_to_be_told(int victim) {
  const int port = free_port();
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const chosen_bootstrap mine = make_bootstrap(member_at(port, victim, 3));
      mine.exchange->barrier();
      ::raise(SIGKILL);
    } catch (...) {
    }
    ::_exit(1);
  }
  std::vector<int> survivors;
  for (int rank = 0; rank < 3; ++rank)
    if (rank != victim) survivors.push_back(rank);
  const auto thrown = run_ranks(survivors, [&](int rank) {
    const chosen_bootstrap mine = make_bootstrap(member_at(port, rank, 3));
    mine.exchange->barrier();
    const auto began = clock::now();
    const error e = thrown_by([&] { mine.exchange->barrier(); });
    EXPECT_LT(clock::now() - began, seconds(2));
    EXPECT_STREQ(thrown_by([&] { mine.exchange->barrier(); }).what(), e.what()) << "later calls must say the same";
    throw e;
  });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::peer_lost);
    EXPECT_EQ(e->pe(), victim) << e->what();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(death, of_a_member) { kill_and_expect_to_be_told(1); }
TEST(death, of_rank0) { kill_and_expect_to_be_told(0); }

}  // namespace
}  // namespace pgas::boot::test
