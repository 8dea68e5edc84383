#include "tools/pgas-info/metrics_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>

#include "common/system_error.hpp"
#include "pgas/error.hpp"

namespace pgas_info {

using namespace pgas::detail;

namespace {

/// The time from the connection to the last byte of the answer. Monitoring systems close the connection after about 10
/// s.
constexpr auto time_for_client = std::chrono::seconds(5);
constexpr std::size_t most_connections = 32;
/// The server reads and drops at most this number of bytes after a request. Closing a socket with unread bytes would
/// drop the answer.
constexpr std::size_t longest_rest = std::size_t{1} << 20;
/// The pause before the next attempt after accept() has failed for lack of descriptors or memory.
constexpr auto pause_without_means = std::chrono::seconds(1);

std::string http_answer(std::string_view status_line, std::string_view body, std::string_view more = {}) {
  return fmt::format(
      "HTTP/1.0 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n{}"
      "Connection: close\r\n\r\n{}",
      status_line, body.size(), more, body);
}

bool is_whole(std::string_view request) {
  return request.find("\r\n\r\n") != request.npos || request.find("\n\n") != request.npos;
}

tcp_listener listen_at(const tcp_address& where) {
  std::optional<tcp_listener> listener = tcp_listener::open(where);
  const int why = errno;
  if (listener) return std::move(*listener);
  throw pgas::error(pgas::code::config_value,
                    fmt::format("cannot listen at {}: {}; choose an address of this host and a free port", where.text(),
                                errno_text(why)));
}

}  // namespace

tcp_address parse_metrics_address(const std::string& setting) {
  const bool loopback = setting.starts_with(':');
  if (const auto where = tcp_address::parse(loopback ? "127.0.0.1" + setting : setting)) return *where;
  throw pgas::error(pgas::code::config_value,
                    fmt::format("'{}' is no address to serve at; give a port of the loopback, such as :9400, or an "
                                "address of this host and a port, such as 10.0.0.7:9400, 0.0.0.0:9400 or [::]:9400",
                                setting));
}

std::string http_response(std::string_view request, const std::function<std::string()>& text) {
  if (!is_whole(request)) return http_answer("431 Request Header Fields Too Large", "the request is too long\n");
  const std::string_view line = request.substr(0, request.find_first_of("\r\n"));
  const std::size_t method_end = line.find(' ');
  const std::size_t target_end = line.rfind(' ');
  if (method_end == line.npos || target_end == method_end || !line.substr(target_end + 1).starts_with("HTTP/1."))
    return http_answer("400 Bad Request", "this port answers GET /metrics, in HTTP/1.0 or 1.1\n");
  if (line.substr(0, method_end) != "GET")
    return http_answer("405 Method Not Allowed", "this port answers GET /metrics\n", "Allow: GET\r\n");
  std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  target = target.substr(0, target.find('?'));
  if (target != "/metrics") return http_answer("404 Not Found", "this port answers GET /metrics\n");
  return http_answer("200 OK", text());
}

metrics_server::metrics_server(event_loop& loop, const tcp_address& where, std::function<std::string()> text)
    : loop_(loop), listener_(listen_at(where)), text_(std::move(text)) {
  loop_.watch(listener_.fd(), POLLIN, [this](short) {
    try {
      accept();
    } catch (const std::exception&) {
      loop_.pause(listener_.fd(), pause_without_means);  // no memory left
    }
  });
}

metrics_server::~metrics_server() {
  for (client& item : clients_) close(item);
  loop_.forget(listener_.fd());
}

void metrics_server::accept() {
  // The loop is limited, so that existing connections are served during a burst of new connections.
  for (std::size_t i = 0; i < most_connections; ++i) {
    tcp_listener::caller next = listener_.accept();
    if (!next.fd) {
      // if no descriptors are left, the client waits
      if (next.error != 0) loop_.pause(listener_.fd(), pause_without_means);
      return;
    }
    if (clients_.size() == most_connections) make_room();
    const int fd = next.fd.get();
    clients_.push_back({std::move(next.fd),
                        next.address.substr(0, next.address.rfind(':')),
                        clock::now() + time_for_client,
                        {},
                        {},
                        0,
                        0});
    loop_.watch(fd, POLLIN, [this, fd](short) { on_event(fd); });
  }
}

void metrics_server::make_room() noexcept {
  const auto connections_of = [this](const client& item) {
    return std::ranges::count(clients_, item.address, &client::address);
  };
  // Clients are in the order of their arrival.
  auto victim = clients_.begin();
  for (auto item = clients_.begin(); item != clients_.end(); ++item) {
    const auto rank = [&](const client& peer) {
      const bool answered = !peer.response.empty() && peer.sent == peer.response.size();
      return std::tuple(answered, peer.response.empty(), connections_of(peer));
    };
    if (rank(*item) > rank(*victim)) victim = item;
  }
  close(*victim);
  clients_.erase(victim);
}

void metrics_server::on_event(int fd) noexcept {
  const auto entry = std::ranges::find_if(clients_, [fd](const client& item) { return item.socket.get() == fd; });
  if (entry == clients_.end()) return;
  bool goes_on = false;
  try {
    goes_on = advance(*entry);
  } catch (const std::exception& why) {  // the server continues after this error
    fmt::print(stderr, "pgas-info: a request could not be answered: {}\n", why.what());
  }
  if (goes_on) return;
  close(*entry);
  clients_.erase(entry);
}

bool metrics_server::advance(client& from) {
  if (!from.response.empty() && from.sent < from.response.size()) return write(from);
  if (!read(from)) return false;
  if (!from.response.empty() || (!is_whole(from.request) && from.request.size() <= longest_request)) return true;
  from.response = http_response(from.request, text_);
  return write(from);
}

bool metrics_server::read(client& from) {
  char bytes[1024];
  for (;;) {
    const ssize_t got = ::recv(from.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return is_whole(from.request) && from.response.empty();
    if (!from.response.empty()) {
      from.dropped += static_cast<std::size_t>(got);
      if (from.dropped > longest_rest) return false;
      continue;
    }
    from.request.append(bytes, static_cast<std::size_t>(got));
    if (is_whole(from.request) || from.request.size() > longest_request) return true;
  }
}

bool metrics_server::write(client& to) {
  const int fd = to.socket.get();
  while (to.sent < to.response.size()) {
    const ssize_t sent =
        ::send(fd, to.response.data() + to.sent, to.response.size() - to.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      loop_.change(fd, POLLOUT);
      return true;
    }
    if (sent <= 0) return false;
    to.sent += static_cast<std::size_t>(sent);
  }
  ::shutdown(fd, SHUT_WR);
  loop_.change(fd, POLLIN);  // reads until the other side has also closed the connection
  return true;
}

void metrics_server::close(client& which) noexcept {
  loop_.forget(which.socket.get());
  which.socket.reset();
}

std::optional<clock::time_point> metrics_server::next_wake() const noexcept {
  std::optional<clock::time_point> next;
  for (const client& item : clients_) next = next ? std::min(*next, item.until) : item.until;
  return next;
}

void metrics_server::check() noexcept {
  std::erase_if(clients_, [&, now = clock::now()](client& item) {
    if (now < item.until) return false;
    close(item);
    return true;
  });
}

}  // namespace pgas_info
