#include "host/control/metrics_service.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <utility>

#include "common/system_error.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// From connecting to the last byte of the answer. Monitoring systems give up after some 10 s.
constexpr auto time_for_client = std::chrono::seconds(5);
constexpr std::size_t most_connections = 32;
/// Bytes behind a request that are read and dropped: closing a socket with unread ones would drop the answer.
constexpr std::size_t longest_rest = std::size_t{1} << 20;
constexpr auto between_looks = std::chrono::seconds(1);

std::string http_answer(std::string_view status_line, std::string_view body, std::string_view more = {}) {
  return fmt::format(
      "HTTP/1.0 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n{}"
      "Connection: close\r\n\r\n{}",
      status_line, body.size(), more, body);
}

bool is_whole(std::string_view request) {
  return request.find("\r\n\r\n") != request.npos || request.find("\n\n") != request.npos;
}

}  // namespace

std::optional<tcp_address> parse_metrics_address(const std::string& setting) {
  if (setting.empty()) return std::nullopt;
  const std::optional<tcp_address> where = tcp_address::parse(setting.front() == ':' ? "127.0.0.1" + setting : setting);
  if (where && where->port() != 0) return where;
  throw error(code::config_value,
              fmt::format("PGAS_METRICS={} is not allowed; set it to: a port of the loopback, such as :9400, or an "
                          "address of this host and a port, such as 10.0.0.7:9400, 0.0.0.0:9400 or [::]:9400",
                          setting));
}

std::string http_response(std::string_view request, const std::function<std::string()>& text) {
  if (!is_whole(request))
    return http_answer("431 Request Header Fields Too Large", "the request is longer than this port takes\n");
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
  const std::string body = text ? text() : std::string();
  if (body.empty())
    return http_answer("503 Service Unavailable", "the PE is joining, or leaves\n", "Retry-After: 1\r\n");
  return http_answer("200 OK", body);
}

metrics_service::metrics_service(event_loop& loop, log::logger& log, const tcp_address& where, int rank)
    : loop_(loop), log_(log) {
  constexpr int largest_port = std::numeric_limits<std::uint16_t>::max();
  const int port = where.port() + rank;
  if (port > largest_port) {
    log_.warn(
        "PGAS_METRICS={}: no metrics of this PE, number {} on its host, as there is no port {}: choose a lower one",
        where.text(), rank, port);
    return;
  }
  const tcp_address at = where.with_port(static_cast<std::uint16_t>(port));
  listener_ = tcp_listener::open(at);
  const int why = errno;
  if (!listener_) {
    log_.warn("PGAS_METRICS={}: no metrics of this PE, which can't listen at {}: {}; choose ports that are free",
              where.text(), at.text(), errno_text(why));
    return;
  }
  close_after_fork(listener_->fd());  // it would take connections in a child that outlives this process
  log_.info("metrics are at http://{}/metrics", at.text());
}

metrics_service::~metrics_service() {
  if (listener_) keep_after_fork(listener_->fd());
}

void metrics_service::start() {
  if (!listener_) return;
  loop_.watch(listener_->fd(), POLLIN, [this](short) {
    try {
      accept();
    } catch (const std::exception&) {
      loop_.pause(listener_->fd(), between_looks);  // there is no memory
    }
  });
}

void metrics_service::accept() {
  // A burst of connections leaves the loop to others in between.
  for (std::size_t i = 0; i < most_connections; ++i) {
    tcp_listener::caller next = listener_->accept();
    if (!next.fd) {
      if (next.error != 0) loop_.pause(listener_->fd(), between_looks);  // no descriptors: the client waits
      return;
    }
    if (clients_.size() == most_connections) make_room();
    const int fd = next.fd.get();
    clients_.push_back({unforked_fd(std::move(next.fd)),
                        next.address.substr(0, next.address.rfind(':')),
                        clock::now() + time_for_client,
                        {},
                        {},
                        0,
                        0});
    loop_.watch(fd, POLLIN, [this, fd](short) { on_event(fd); });
  }
}

void metrics_service::make_room() noexcept {
  const auto connections_of = [this](const client& one) {
    return std::ranges::count(clients_, one.address, &client::address);
  };
  // Clients are in the order in which they came.
  auto victim = clients_.begin();
  for (auto one = clients_.begin(); one != clients_.end(); ++one) {
    const auto rank = [&](const client& of) { return std::pair(of.response.empty(), connections_of(of)); };
    if (rank(*one) > rank(*victim)) victim = one;
  }
  close(*victim);
  clients_.erase(victim);
}

void metrics_service::on_event(int fd) noexcept {
  const auto of = std::ranges::find_if(clients_, [fd](const client& one) { return one.socket.get() == fd; });
  if (of == clients_.end()) return;
  bool goes_on = false;
  try {
    goes_on = advance(*of);
  } catch (const std::exception& why) {  // no reason to end the world
    log_.warn("a request for metrics could not be answered: {}", why.what());
  }
  if (goes_on) return;
  close(*of);
  clients_.erase(of);
}

bool metrics_service::advance(client& of) {
  if (!of.response.empty() && of.sent < of.response.size()) return write(of);
  if (!read(of)) return false;
  if (!of.response.empty() || (!is_whole(of.request) && of.request.size() <= longest_request)) return true;
  of.response = http_response(of.request, source_.text);
  return write(of);
}

bool metrics_service::read(client& of) {
  char bytes[1024];
  for (;;) {
    const ssize_t got = ::recv(of.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return is_whole(of.request) && of.response.empty();
    if (!of.response.empty()) {
      of.dropped += static_cast<std::size_t>(got);
      if (of.dropped > longest_rest) return false;
      continue;
    }
    of.request.append(bytes, static_cast<std::size_t>(got));
    if (is_whole(of.request) || of.request.size() > longest_request) return true;
  }
}

bool metrics_service::write(client& of) {
  const int fd = of.socket.get();
  while (of.sent < of.response.size()) {
    const ssize_t sent =
        ::send(fd, of.response.data() + of.sent, of.response.size() - of.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      loop_.change(fd, POLLOUT);
      return true;
    }
    if (sent <= 0) return false;
    of.sent += static_cast<std::size_t>(sent);
  }
  ::shutdown(fd, SHUT_WR);
  loop_.change(fd, POLLIN);  // until the other side has closed, too
  return true;
}

void metrics_service::close(client& of) noexcept {
  loop_.forget(of.socket.get());
  of.socket.close();
}

clock::time_point metrics_service::next_wake() const noexcept {
  clock::time_point next = next_look_;
  for (const client& one : clients_) next = std::min(next, one.until);
  return next;
}

void metrics_service::check() noexcept {
  const clock::time_point now = clock::now();
  std::erase_if(clients_, [&](client& one) {
    if (now < one.until) return false;
    close(one);
    return true;
  });
  if (now < next_look_) return;
  next_look_ = now + between_looks;
  if (source_.look) source_.look();
}

}  // namespace pgas::detail
