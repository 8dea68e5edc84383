// The answers of the server of pgas-info --serve. No client blocks the server.
#include "tools/pgas-info/metrics_server.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/net/socket.hpp"
#include "pgas/error.hpp"

namespace {

using namespace pgas::detail;
using namespace pgas_info;
using namespace std::chrono_literals;

std::string small_page() { return "pgas_world_failed{pe=\"0\"} 0\n"; }
std::string status_of(const std::string& response) { return response.substr(0, response.find("\r\n")); }
std::string answered(const std::string& request) { return status_of(http_response(request, small_page)); }

TEST(metrics_address, is_the_loopback_where_none_is_named) {
  EXPECT_EQ(parse_metrics_address(":9400").text(), "127.0.0.1:9400");
  EXPECT_EQ(parse_metrics_address("0.0.0.0:9400").text(), "0.0.0.0:9400");
  EXPECT_EQ(parse_metrics_address("10.0.0.7:1").text(), "10.0.0.7:1");
  EXPECT_EQ(parse_metrics_address("[::]:65535").text(), "[::]:65535");
  EXPECT_EQ(parse_metrics_address(":0").port(), 0) << "any free port";
}

TEST(metrics_address, is_refused_where_it_is_none) {
  for (const char* const wrong : {"", ":", "9400", ":65536", ":-1", ": 9400", "localhost:9400", "::1:9400", "[::1]",
                                  "10.0.0.7", "10.0.0.7:", "http://10.0.0.7:9400", ":9400/metrics"})
    EXPECT_THROW(static_cast<void>(parse_metrics_address(wrong)), pgas::error) << wrong;
}

TEST(http_response, has_the_page_in_the_format_that_it_names) {
  const std::string response = http_response("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", small_page);
  EXPECT_EQ(status_of(response), "HTTP/1.0 200 OK");
  EXPECT_NE(response.find("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), response.npos);
  EXPECT_NE(response.find("\r\nContent-Length: " + std::to_string(small_page().size()) + "\r\n"), response.npos);
  EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4), small_page());
  EXPECT_EQ(answered("GET /metrics?name=x HTTP/1.0\n\n"), "HTTP/1.0 200 OK");
}

TEST(http_response, says_what_is_wrong) {
  EXPECT_EQ(answered("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.0 404 Not Found");
  EXPECT_EQ(answered("GET /metricsx HTTP/1.1\r\n\r\n"), "HTTP/1.0 404 Not Found");
  EXPECT_EQ(answered("POST /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.0 405 Method Not Allowed");
  for (const char* const bad : {"\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/2\r\n\r\n",
                                " \n\n", "\x16\x03\x01\x02\r\n\r\n", "HTTP/1.0\n\n"})
    EXPECT_EQ(answered(bad), "HTTP/1.0 400 Bad Request") << bad;
  EXPECT_EQ(answered(std::string(5000, 'x')), "HTTP/1.0 431 Request Header Fields Too Large");
}

/// A server on a free port, and the thread of its loop.
class MetricsServer : public ::testing::Test {
 protected:
  MetricsServer()
      : server_(loop_, parse_metrics_address(":0"), [this] { return small_page() + std::string(padding_, 'x'); }),
        thread_([this] {
          while (!ended_) {
            loop_.run_once(server_.next_wake());
            server_.check();
          }
        }) {}
  ~MetricsServer() override {
    ended_ = true;
    loop_.wake();
    thread_.join();
  }

  [[nodiscard]] unique_fd connected() const {
    connect_result to = begin_connect(*tcp_address::parse_host("127.0.0.1", server_.port()));
    EXPECT_TRUE(to.fd);
    EXPECT_TRUE(wait_for_events(to.fd.get(), POLLOUT, deadline(30s)));
    return std::move(to.fd);
  }
  /// Returns all bytes that arrive until the server closes the connection. Returns an empty text if the connection
  /// stays open for a minute.
  [[nodiscard]] static std::optional<std::string> rest_of(int fd) {
    const deadline limit(60s);
    std::string all;
    char bytes[4096];
    while (wait_for_events(fd, POLLIN, limit)) {
      const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
      if (got <= 0) return all;
      all.append(bytes, static_cast<std::size_t>(got));
    }
    return std::nullopt;
  }
  static void say(int fd, std::string_view text) {
    EXPECT_EQ(send_all(fd, std::as_bytes(std::span(text)), deadline(30s)), 0);
  }
  [[nodiscard]] std::string scrape() const {
    const unique_fd to = connected();
    say(to.get(), "GET /metrics HTTP/1.1\r\n\r\n");
    const std::optional<std::string> response = rest_of(to.get());
    EXPECT_TRUE(response);
    return response.value_or("");
  }

  std::atomic<std::size_t> padding_{0};
  std::atomic<bool> ended_{false};
  event_loop loop_;
  metrics_server server_;
  std::thread thread_;
};
TEST_F(MetricsServer, a_request_may_come_in_pieces) {
  const unique_fd to = connected();
  for (const std::string_view piece : {"GE", "T /metrics HTT", "P/1.0\r\nA: b\r", "\n\r\n"}) {
    say(to.get(), piece);
    std::this_thread::sleep_for(30ms);
  }
  EXPECT_EQ(status_of(rest_of(to.get()).value_or("nothing")), "HTTP/1.0 200 OK");
}

TEST_F(MetricsServer, an_end_behind_the_request_is_no_end_of_the_answer) {
  const unique_fd to = connected();
  say(to.get(), "GET /metrics HTTP/1.0\n\n");
  ::shutdown(to.get(), SHUT_WR);
  EXPECT_EQ(status_of(rest_of(to.get()).value_or("nothing")), "HTTP/1.0 200 OK");
}

TEST_F(MetricsServer, a_page_longer_than_what_the_kernel_buffers_comes_whole) {
  padding_ = std::size_t{16} << 20;
  const std::string response = scrape();
  EXPECT_EQ(response.size() - response.find("\r\n\r\n") - 4, small_page().size() + padding_);
}

TEST_F(MetricsServer, too_long_a_request_is_refused_and_its_rest_ignored) {
  const unique_fd to = connected();
  say(to.get(), std::string(20000, 'x'));
  EXPECT_EQ(status_of(rest_of(to.get()).value_or("nothing")), "HTTP/1.0 431 Request Header Fields Too Large");
}

TEST_F(MetricsServer, a_silent_client_delays_no_other_and_is_disconnected) {
  std::vector<unique_fd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(connected());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(status_of(scrape()), "HTTP/1.0 200 OK");
  for (const unique_fd& item : silent) EXPECT_EQ(rest_of(item.get()), std::string());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 3s) << "it had time to say something";
}

TEST_F(MetricsServer, many_connections_without_a_request_do_not_delay_others) {
  std::vector<unique_fd> silent;
  for (int i = 0; i < 400; ++i) silent.push_back(connected());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(status_of(scrape()), "HTTP/1.0 200 OK");
  // The answers would take a minute if each batch waited for its time limit.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(MetricsServer, connections_without_a_request_do_not_end_one_that_is_answered) {
  padding_ = std::size_t{16} << 20;
  const unique_fd reader = connected();
  say(reader.get(), "GET /metrics HTTP/1.0\n\n");
  ASSERT_TRUE(wait_for_events(reader.get(), POLLIN, deadline(30s)));
  std::vector<unique_fd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connected());
  const std::string response = rest_of(reader.get()).value_or("");
  EXPECT_EQ(response.size() - response.find("\r\n\r\n") - 4, small_page().size() + padding_);
}

TEST_F(MetricsServer, a_port_that_is_taken_is_an_error_that_names_it) {
  event_loop other;
  try {
    const metrics_server second(other, parse_metrics_address(":" + std::to_string(server_.port())), small_page);
    FAIL() << "two servers have one port";
  } catch (const pgas::error& refused) {
    EXPECT_EQ(refused.code(), pgas::code::config_value);
    EXPECT_NE(std::string(refused.what()).find(std::to_string(server_.port())), std::string::npos) << refused.what();
  }
}

}  // namespace
