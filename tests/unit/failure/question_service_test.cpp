// The questions of pgas-why: a PE without memory for an answer continues, and answers the next question. The warnings
// of long waits name the limit that ends the wait.
#include "host/failure/question_service.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/net/socket.hpp"
#include "common/net/unix_socket.hpp"
#include "unit/connect/fixtures.hpp"

namespace {

using namespace pgas::detail;
using namespace pgas::unit_test;

/// The packets that a PE with sockets in `folder` sends until it closes the connection.
std::vector<std::string> ask(const scratch_folder& folder, std::string_view word) {
  std::string socket;
  for (const auto& one : folder.entries())
    if (one.filename().string().starts_with(question_socket_prefix)) socket = one.filename().string();
  const connect_result to = connect_to(unix_address(folder.path(), socket));
  EXPECT_TRUE(to.fd) << socket;
  EXPECT_EQ(send_packet(to.fd.get(), std::as_bytes(std::span(word)), {}, {}), 0);
  std::vector<std::string> said;
  std::vector<std::byte> buffer(std::size_t{1} << 16);
  for (pollfd ready{to.fd.get(), POLLIN, 0}; ::poll(&ready, 1, 10'000) > 0;) {
    const received_packet packet = receive_packet(to.fd.get(), buffer);
    if (packet.what == received_packet::status::nothing_yet) continue;
    if (packet.what != received_packet::status::complete) break;
    said.emplace_back(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
  }
  return said;
}

TEST(question_service, goes_on_where_there_is_no_memory_for_an_answer) {
  enum class step { none, ask, answer, stats, metrics };
  const scratch_folder folder;
  const auto ended = run_threads(1, [&](pgas::bootstrap& exchange) {
    std::atomic<step> fails{step::none};
    const auto pass = [&](step now) {
      if (fails == now) throw std::bad_alloc();
    };
    pgas::config settings = quick();
    settings.socket_directory = folder.path();
    pgas::log::logger log(pgas::log_level::error, folder.path() + "/log");
    control_plane plane(exchange, settings, log, [](const pgas::error&) {});
    plane.set_wait_source({[&] { pass(step::ask); }, [] { return true; },
                           [&] {
                             pass(step::answer);
                             return std::string(R"("waits":[])");
                           },
                           [](std::chrono::milliseconds) { return std::vector<long_wait>(); },
                           [&] {
                             pass(step::stats);
                             return std::string(R"("calls":[])");
                           },
                           [&] {
                             pass(step::metrics);
                             return std::string(R"("by_call":[])");
                           },
                           [] { return std::vector<std::string>(); },
                           [](std::string_view, const std::vector<std::string>&) { return std::string(); }});
    for (const auto& [word, failing] : {std::pair("waits", step::ask), std::pair("waits", step::answer),
                                        std::pair("stats", step::stats), std::pair("metrics", step::metrics)}) {
      // The number of packets before the answers. For a question to all PEs, there is one packet before the answers: an
      // introduction.
      const std::size_t introduced = failing == step::metrics ? 0 : 1;
      fails = failing;
      EXPECT_EQ(ask(folder, word).size(), introduced) << word << ": it has no answer";
      fails = step::none;
      const std::vector<std::string> said = ask(folder, word);
      ASSERT_EQ(said.size(), introduced + 1) << word;
      EXPECT_TRUE(said.back().starts_with(R"({"pe":0,)")) << said.back();
    }
    EXPECT_FALSE(plane.failed());
    plane.leave();
  });
  EXPECT_FALSE(ended[0]) << ended[0]->what();
}

/// The warnings of PE 0 of two PEs that make `calls`.
std::vector<std::string> warnings_of(const pgas::config& settings,
                                     const std::function<void(control_plane&, int)>& calls) {
  const scratch_folder folder;
  expect_no_error(run_threads(2, [&](pgas::bootstrap& exchange) {
    pgas::config own = settings;
    own.socket_directory = folder.path();
    pgas::log::logger log(pgas::log_level::warn, folder.path() + "/log" + std::to_string(exchange.rank()));
    control_plane plane(exchange, own, log, [](const pgas::error&) {});
    calls(plane, exchange.rank());
  }));
  return lines_of(folder.path() + "/log0");
}

void be_late(int pe, std::chrono::milliseconds by) {
  if (pe == 1) std::this_thread::sleep_for(by);
}

TEST(question_service, a_warning_names_the_limit_of_the_stage) {
  static constexpr auto late = std::chrono::milliseconds(3000);  // waits that begin within 2 s share a warning
  pgas::config settings = quick();
  settings.wait_warning = std::chrono::milliseconds(400);
  settings.wait_timeout = std::chrono::milliseconds(0);
  const std::vector<std::string> lines = warnings_of(settings, [](control_plane& plane, int pe) {
    be_late(pe, late);
    plane.barrier();
    plane.joined();
    be_late(pe, late);
    plane.barrier();
    plane.await_leave();
    be_late(pe, late);
    plane.leave();
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("PGAS_JOIN_TIMEOUT will end the wait"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("The wait goes on, as PGAS_WAIT_TIMEOUT is 0"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("PGAS_JOIN_TIMEOUT ends the wait for work on streams"), std::string::npos) << lines[2];
}

TEST(question_service, half_a_limit_is_that_of_the_stage) {
  pgas::config settings = quick();
  settings.join_timeout = std::chrono::seconds(14);
  settings.wait_timeout = std::chrono::seconds(10);
  const std::vector<std::string> lines = warnings_of(settings, [](control_plane& plane, int pe) {
    be_late(pe, std::chrono::seconds(9));
    plane.barrier();
    plane.leave();
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("Half of PGAS_JOIN_TIMEOUT is over"), std::string::npos) << lines[0];
}

}  // namespace
