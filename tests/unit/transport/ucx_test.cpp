/// @file
/// The contract suite for UCX, and tests of its own features.
#include <signal.h>
#include <sys/mman.h>

#include "code_of.hpp"
#include "contract_test.hpp"
#include "ucx_kinds.hpp"

namespace pgas_test {
namespace {

using pgas::code;

INSTANTIATE_TEST_SUITE_P(transports, contract, testing::ValuesIn(ucx_kinds()), kind_name);

TEST(ucx, reports_its_name_and_route) {
  for (const auto& [kind, way] : {std::pair(ucx_by_default(), "memory"), std::pair(ucx_over_tcp(), "tcp/lo")}) {
    run_pes(kind, 2, [&, expected = way](test_pe& pe) {
      EXPECT_EQ(pe.link->name().rfind("ucx 1.", 0), 0u) << pe.link->name();
      EXPECT_EQ(pe.link->route(1 - pe.me), "") << "connected before it was needed";
      const blob message(100);
      pe.send(1 - pe.me, message);
      pe.until_messages(1);
      pe.until_done();
      EXPECT_NE(pe.link->route(1 - pe.me).find(expected), std::string::npos) << pe.link->route(1 - pe.me);
      EXPECT_EQ(pe.link->route(2), "");
    });
  }
}

TEST(ucx, leaves_signal_handlers_alone) {
  struct sigaction before {};
  struct sigaction after {};
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &before), 0);
  const auto link = make_ucx(0);
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &after), 0);
  EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
}

TEST(ucx, does_not_expose_memory_that_the_cpu_cannot_read) {
  void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const auto link = make_ucx(0);
  std::string why_not;
  EXPECT_FALSE(link->expose(page, 4096, why_not));
  EXPECT_FALSE(why_not.empty());
  ::munmap(page, 4096);
}

TEST(ucx, names_a_pe_without_an_address) {
  const auto link = make_ucx(0);
  std::atomic<int> arrived{0};
  test_pe::everyone all;
  test_pe pe(0, nullptr, all, arrived);
  EXPECT_EQ(code_of([&] { link->connect({link->address(), {}}, pe); }), code::transport_failed);
}

TEST(ucx, uses_the_interface_of_its_settings) {
  const ucx_variables in_force(std::map<std::string, std::string>{{"UCX_TLS", "tcp,self"}});
  const transport_kind kind{
      "on lo", [](int n) {
        std::vector<std::unique_ptr<transport>> result;
        for (int pe = 0; pe < n; ++pe)
          result.push_back(pgas::detail::make_ucx_transport({.pe = pe, .devices = "lo", .log = &ucx_log()}));
        return result;
      }};
  run_pes(kind, 2, [](test_pe& pe) {
    const blob message(100);
    pe.send(1 - pe.me, message);
    pe.until_messages(1);
    pe.until_done();
    EXPECT_EQ(pe.link->route(1 - pe.me), "tcp/lo");
  });
}

TEST(ucx, the_users_own_choice_wins_over_the_interface) {
  const ucx_variables in_force(std::map<std::string, std::string>{{"UCX_NET_DEVICES", "lo"}});
  const auto link = pgas::detail::make_ucx_transport({.pe = 0, .devices = "no-such-device", .log = &ucx_log()});
  EXPECT_FALSE(link->address().empty());
}

// A sender says that it is PE 7, although the world has two PEs. The sender may belong to another job.
TEST(ucx, foreign_messages_are_ignored_with_one_warning) {
  pgas::log::logger quiet(pgas::log_level::error);
  std::atomic<int> arrived{0};
  test_pe::everyone all;
  test_pe known(0, pgas::detail::make_ucx_transport({.pe = 0, .log = &quiet}), all, arrived);
  test_pe stranger(1, pgas::detail::make_ucx_transport({.pe = 7, .log = &quiet}), all, arrived);
  const std::vector<blob> addresses{known.link->address(), stranger.link->address()};
  known.link->connect(addresses, known);
  stranger.link->connect(addresses, stranger);
  const blob message(100);
  for (int i = 0; i < 5; ++i) stranger.send(0, message);
  const auto give_up = std::chrono::steady_clock::now() + test_pe::timeout;
  while (stranger.done_count.size() < 5 && std::chrono::steady_clock::now() < give_up) {
    (void)stranger.link->progress();
    (void)known.link->progress();
  }
  known.send(1, message);
  while (stranger.messages.empty() && std::chrono::steady_clock::now() < give_up) {
    (void)stranger.link->progress();
    (void)known.link->progress();
  }
  EXPECT_EQ(stranger.messages.size(), 1u);
  EXPECT_TRUE(known.messages.empty());
}

}  // namespace
}  // namespace pgas_test
