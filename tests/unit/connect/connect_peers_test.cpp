// Joining over TCP: connections that are accepted or refused, the choice among a PE's addresses, and error messages.
#include "host/connect/connect_peers.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "host/connect/control_message.hpp"
#include "unit/connect/fixtures.hpp"
#include "unit/connect/strangers.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;

bool wait_for(int fd, short events) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, 20'000) == 1;
}

unique_fd connect_now(const tcp_address& to) {
  connect_result begun = begin_connect(to);
  EXPECT_TRUE(begun.fd && wait_for(begun.fd.get(), POLLOUT)) << std::strerror(begun.error);
  EXPECT_EQ(outcome_of_connect(begun.fd.get()), 0);
  return std::move(begun.fd);
}

TEST(peer_connector, strangers_on_the_port_are_refused_with_one_line_each_and_delay_nobody) {
  const scratch_folder logs;
  const holdings before = count_holdings();
  const auto start = std::chrono::steady_clock::now();
  std::vector<unique_fd> held;
  std::atomic<bool> done{false};
  std::vector<blob> introductions;
  const auto visit = [&](const tcp_address& where) {
    held.push_back(connect_now(where));  // sends no data

    held.push_back(connect_now(where));
    EXPECT_EQ(::send(held.back().get(), "GET", 3, MSG_NOSIGNAL), 3);

    held.push_back(connect_now(where));
    const blob flood(5000, std::byte{'x'});
    EXPECT_EQ(::send(held.back().get(), flood.data(), flood.size(), MSG_NOSIGNAL), static_cast<ssize_t>(flood.size()));

    const hello as_pe_2{.from = 2, .to = 0, .nonce = random_bits()};
    held.push_back(connect_now(where));  // the messages are right, but the secret is wrong
    send_message(held.back(), as_pe_2);
    send_message(held.back(), random_bits());

    held.push_back(connect_now(where));  // a message that PE 2 could send to another process
    send_message(held.back(), as_pe_2);
    send_message(held.back(), handshake::code_of(derive_job_key(decode_descriptors(introductions)),
                                                 handshake::role::connecting, as_pe_2, random_bits()));

    connect_now(where).reset();  // closed immediately
  };
  expect_no_error(run_threads_on({0, 1, 1}, [&](bootstrap& exchange) {
    config settings = quick();
    settings.log_file = logs.path() + "/log";
    pausing_bootstrap introduced(exchange, [&] {
      if (exchange.rank() == 2) introductions = introduced.answers();
    });
    pausing_bootstrap paused(
        introduced,
        [&] {
          if (exchange.rank() == 2) {
            visit(decode_endpoints(paused.answers()[0], 0).addresses.front());
            done = true;
          }
          while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        },
        2);
    joined_pe pe(paused, settings);
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  const auto lines = lines_of(logs.path() + "/log");
  EXPECT_EQ(count_with(lines, "warn: "), 6u);
  EXPECT_EQ(count_with(lines, "warn: refused a connection from "), 6u);
  EXPECT_EQ(count_with(lines, "does not know this job's secret"), 2u);
  EXPECT_EQ(count_with(lines, "speaks another protocol"), 1u);
  EXPECT_EQ(count_with(lines, "has not said who it is"), 2u);
  EXPECT_EQ(count_with(lines, "went away without a word"), 1u);
  EXPECT_EQ(count_with(lines, "error: "), 0u);
  // No connection has received more than the answer to a hello.
  for (const unique_fd& fd : held) {
    std::array<std::byte, 100> heard;
    const ssize_t got = ::recv(fd.get(), heard.data(), heard.size(), 0);
    EXPECT_TRUE(got == 0 || got == static_cast<ssize_t>(sizeof(hello_answer)) || (got < 0 && errno == ECONNRESET))
        << got;
  }
  held.clear();
  EXPECT_EQ(settle_at(before), before);
}

TEST(peer_connector, a_crowd_of_silent_connections_does_not_keep_pes_out) {
  std::vector<unique_fd> crowd;
  std::atomic<bool> done{false};
  expect_no_error(run_threads_on({0, 1, 1}, [&](bootstrap& exchange) {
    pausing_bootstrap paused(
        exchange,
        [&] {
          if (exchange.rank() == 2) {
            const tcp_address where = decode_endpoints(paused.answers()[0], 0).addresses.front();
            for (int i = 0; i < 200; ++i)
              if (connect_result begun = begin_connect(where); begun.fd) crowd.push_back(std::move(begun.fd));
            done = true;
          }
          while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        },
        2);
    joined_pe pe(paused);
    pe.control_plane.barrier();
    pe.control_plane.leave();
  }));
  EXPECT_GE(crowd.size(), 100u);
}

/// Two PEs of different hosts with each other's descriptors, without a bootstrap.
struct introduced_pair {
  introduced_pair() : all{make_descriptor(""), make_descriptor("")}, quiet(log_level::error, "/dev/null") {
    all[1].machine = short_for("another machine");
    settings.join_timeout = std::chrono::seconds(20);
  }
  unique_fd connect(int me, const std::vector<tcp_address>& of_pe_0, const tcp_listener& listener) {
    std::vector<tcp_endpoints> endpoints(2);
    endpoints[0].addresses = of_pe_0;
    const unix_listener local(unix_address("", all[static_cast<std::size_t>(me)].socket_name()), 4);
    return std::move(connect_peers(all, peer_table(all, me), local, settings, quiet, &listener, endpoints)[1 - me].fd);
  }
  std::vector<peer_descriptor> all;
  config settings = quick();
  log::logger quiet;
};

tcp_address here(const tcp_listener& listener) { return tcp_address::parse("127.0.0.1:1")->with_port(listener.port()); }

TEST(peer_connector, addresses_are_tried_until_the_right_pe_answers) {
  introduced_pair pair;
  const tcp_listener real = listen_anywhere();
  const tcp_listener echo = listen_anywhere();  // this listener sends back the bytes that it receives
  const tcp_listener closing = listen_anywhere();
  const tcp_listener own = listen_anywhere();
  // This listener is made last, because the system can give its port to another listener.
  const tcp_address nobody = here(listen_anywhere());
  const std::vector<tcp_address> addresses = {nobody, here(echo), here(closing), here(real)};
  std::atomic<bool> done{false};
  std::thread impostor([&] {
    unique_fd caller;
    while (!done) {
      pollfd waiting[] = {{echo.fd(), POLLIN, 0}, {closing.fd(), POLLIN, 0}, {caller.get(), POLLIN, 0}};
      ::poll(waiting, 3, 10);
      if (unique_fd one = echo.accept().fd) caller = std::move(one);
      closing.accept().fd.reset();
      char heard[256];
      const ssize_t got = caller ? ::recv(caller.get(), heard, sizeof(heard), MSG_DONTWAIT) : 0;
      if (got > 0) static_cast<void>(::send(caller.get(), heard, static_cast<std::size_t>(got), MSG_NOSIGNAL));
    }
  });
  unique_fd at_0;
  std::thread pe_0([&] { at_0 = pair.connect(0, {}, real); });
  const unique_fd at_1 = pair.connect(1, addresses, own);
  pe_0.join();
  done = true;
  impostor.join();
  ASSERT_TRUE(at_0 && at_1);
  EXPECT_EQ(::send(at_1.get(), "hello", 5, MSG_NOSIGNAL), 5);
  ASSERT_TRUE(wait_for(at_0.get(), POLLIN));
  char text[5];
  EXPECT_EQ(::recv(at_0.get(), text, sizeof(text), 0), 5);
}

TEST(peer_connector, when_no_address_works_each_is_named_with_its_answer) {
  const holdings before = count_holdings();
  {
    introduced_pair pair;
    pair.settings.join_timeout = std::chrono::milliseconds(4000);
    const tcp_listener silent = listen_anywhere();
    const tcp_listener own = listen_anywhere();
    // This listener is made last, because the system can give its port to another listener.
    const tcp_address nobody = here(listen_anywhere());
    const auto end = thrown_by([&] { static_cast<void>(pair.connect(1, {nobody, here(silent)}, own)); });
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), code::peer_unreachable) << end->what();
    EXPECT_EQ(end->pe(), 0);
    EXPECT_TRUE(says(end, nobody.text() + " (Connection refused)")) << end->what();
    EXPECT_TRUE(says(end, here(silent).text() + " (it takes connections, but says nothing)")) << end->what();
    EXPECT_TRUE(says(end, "PGAS_SOCKET_IFNAME")) << end->what();

    const auto without = thrown_by([&] { static_cast<void>(pair.connect(1, {}, listen_anywhere())); });
    ASSERT_TRUE(without);
    EXPECT_EQ(without->code(), code::peer_unreachable) << without->what();
    EXPECT_TRUE(says(without, "no network address")) << without->what();
  }
  EXPECT_EQ(settle_at(before), before);
}

TEST(peer_connector, a_pe_that_is_lost_while_joining_fails_all_and_leaks_nothing) {
  const holdings before = count_holdings();
  const auto ends = run_threads_on({0, 1, 1}, [&](bootstrap& exchange) {
    config settings = quick();
    settings.join_timeout = std::chrono::seconds(2);
    pausing_bootstrap paused(
        exchange,
        [&] {
          if (exchange.rank() == 0) throw error(code::aborted, "gives up", 0);
        },
        2);
    joined_pe pe(paused, settings);
  });
  for (const auto& end : ends) EXPECT_TRUE(end);
  EXPECT_EQ(settle_at(before), before);
}

/// Joins as PE 1 of two PEs, without a control plane. Returns the connection to PE 0.
peer_socket join_by_hand(bootstrap& exchange) {
  const auto all = decode_descriptors(exchange.all_gather(encode(make_descriptor(""))));
  const tcp_listener listener = listen_anywhere();
  tcp_endpoints mine;
  std::vector<tcp_endpoints> endpoints;
  for (const blob& one : exchange.all_gather(encode(mine)))
    endpoints.push_back(decode_endpoints(one, static_cast<int>(endpoints.size())));
  const unix_listener local(unix_address("", all[1].socket_name()), 4);
  log::logger quiet(log_level::error, "/dev/null");
  std::map<int, peer_socket> sockets =
      connect_peers(all, peer_table(all, 1), local, quick(), quiet, &listener, endpoints);
  static_cast<void>(exchange.all_gather({}));  // reports no failure
  return std::move(sockets[0]);
}

TEST(peer_connector, packets_may_come_in_pieces_and_one_that_is_too_long_is_a_failure_that_names_its_sender) {
  for (const bool too_long : {true, false}) {
    const auto ends = run_threads_on({0, 1}, [too_long](bootstrap& exchange) {
      if (exchange.rank() == 0) {
        joined_pe pe(exchange);
        pe.control_plane.barrier();
        pe.control_plane.barrier();
        return;
      }
      const peer_socket joined = join_by_hand(exchange);
      const unique_fd& socket = joined.fd;
      frame_cipher cipher(joined.keys.value().to_send);
      blob sealed;
      control_header header;
      header.call = collective::barrier;
      header.from = 1;
      header.to = 0;
      const auto bytes = std::as_bytes(std::span(&header, 1));
      cipher.seal(bytes, {}, sealed);
      for (const std::byte one : sealed) EXPECT_EQ(::send(socket.get(), &one, 1, MSG_NOSIGNAL), 1);
      if (too_long)
        header.bytes = std::uint64_t{1} << 40;
      else
        header.magic = 0;
      cipher.seal(bytes, {}, sealed);
      EXPECT_EQ(::send(socket.get(), sealed.data(), sealed.size(), MSG_NOSIGNAL), static_cast<ssize_t>(sealed.size()));
      char text[1000];
      do EXPECT_TRUE(wait_for(socket.get(), POLLIN)) << "the other side has not ended";
      while (::recv(socket.get(), text, sizeof(text), 0) > 0);
    });
    EXPECT_FALSE(ends[1]) << ends[1]->what();
    ASSERT_TRUE(ends[0]);
    EXPECT_EQ(ends[0]->code(), code::bootstrap_protocol) << ends[0]->what();
    EXPECT_EQ(ends[0]->pe(), 1);
    EXPECT_TRUE(says(ends[0], "PE 1 (host host-1")) << ends[0]->what();
    EXPECT_TRUE(says(ends[0], "malformed message")) << ends[0]->what();
  }
}

TEST(peer_connector, what_another_process_sends_over_a_connection_is_a_failure_that_says_so) {
  const auto ends = run_threads_on({0, 1}, [](bootstrap& exchange) {
    if (exchange.rank() == 0) {
      joined_pe pe(exchange);
      pe.control_plane.barrier();
      return;
    }
    const peer_socket joined = join_by_hand(exchange);
    control_header header;  // a header that a relay without the keys could send
    header.call = collective::barrier;
    EXPECT_EQ(::send(joined.fd.get(), &header, sizeof(header), MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(header)));
    char text[1000];
    do EXPECT_TRUE(wait_for(joined.fd.get(), POLLIN)) << "the other side has not ended";
    while (::recv(joined.fd.get(), text, sizeof(text), 0) > 0);
  });
  ASSERT_TRUE(ends[0]);
  EXPECT_EQ(ends[0]->code(), code::authentication) << ends[0]->what();
  EXPECT_TRUE(says(ends[0], "changed on the way, or sent by another process")) << ends[0]->what();
}

}  // namespace
}  // namespace pgas::unit_test
