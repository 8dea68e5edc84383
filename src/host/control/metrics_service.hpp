/// @file
/// Serves what a PE has counted to monitoring systems, over HTTP (PGAS_METRICS): GET /metrics, in Prometheus' text
/// format. A client can block neither the program nor the loop: a request is short, an answer is
/// made at once, and a connection lasts some seconds at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/address.hpp"
#include "common/net/event_loop.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/unforked_fd.hpp"
#include "host/log/logger.hpp"

namespace pgas::detail {

/// The setting PGAS_METRICS: `[ADDRESS]:PORT`, where none is the loopback. Empty: nothing is served. *Errors*
/// config_value.
[[nodiscard]] std::optional<tcp_address> parse_metrics_address(const std::string& setting);

/// Where a PE keeps what it counts. The thread of the loop calls the functions.
struct metrics_source {
  std::function<std::string()> text;  ///< all of it; empty: there is nothing any more
  std::function<void()> look;         ///< about once a second
};

/// The answer to a whole request, or to one that is too long.
[[nodiscard]] std::string http_response(std::string_view request, const std::function<std::string()>& text);

/// *Callers* the thread of the loop; the constructor: any, before that thread runs.
class metrics_service {
 public:
  /// Longer requests are refused.
  static constexpr std::size_t longest_request = 4096;

  /// Listens at the port of `where` plus `rank`, the PE's number on its host. Without that port nothing is served, and
  /// a warning says why. `loop` and `log` outlive it.
  metrics_service(event_loop& loop, log::logger& log, const tcp_address& where, int rank);
  metrics_service(const metrics_service&) = delete;
  metrics_service& operator=(const metrics_service&) = delete;
  ~metrics_service();

  /// Watches the port.
  void start();
  /// Without a source, requests are told to come again.
  void set_source(metrics_source source) { source_ = std::move(source); }
  /// Where it listens; 0: nowhere.
  [[nodiscard]] std::uint16_t port() const noexcept { return listener_ ? listener_->port() : std::uint16_t{0}; }
  /// When check() has something to do next.
  [[nodiscard]] clock::time_point next_wake() const noexcept;
  /// Ends connections that have lasted too long.
  void check() noexcept;

 private:
  struct client {
    unforked_fd socket;
    std::string address;  ///< without the port
    clock::time_point until;
    std::string request;
    std::string response;     ///< empty: the request is not whole
    std::size_t sent = 0;     ///< of the response
    std::size_t dropped = 0;  ///< behind the request
  };

  void accept();
  /// Ends one connection without a whole request: the oldest of the address that has most connections. If all have sent
  /// a request, ends one of those in the same way.
  /// So clients that connect and send nothing do not keep out a client that sends a request.
  void make_room() noexcept;
  void on_event(int fd) noexcept;
  /// Whether the connection goes on.
  [[nodiscard]] bool advance(client& of);
  [[nodiscard]] bool read(client& of);
  [[nodiscard]] bool write(client& of);
  void close(client& of) noexcept;

  event_loop& loop_;
  log::logger& log_;
  std::optional<tcp_listener> listener_;
  metrics_source source_;
  std::vector<client> clients_;
  clock::time_point next_look_ = clock::now();
};

}  // namespace pgas::detail
