/// @file
/// A small HTTP server for GET /metrics, in the text format of Prometheus. A client cannot block another client or the
/// server for long, because requests are short and a connection lasts at most some seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/address.hpp"
#include "common/net/event_loop.hpp"
#include "common/net/tcp_socket.hpp"

namespace pgas_info {

/// Parses `[ADDRESS]:PORT`. Without an address, the server listens on the loopback interface. Port 0 means any free
/// port. *Errors* config_value.
[[nodiscard]] pgas::detail::tcp_address parse_metrics_address(const std::string& setting);

/// The answer to a complete request, or to a request that is too long.
[[nodiscard]] std::string http_response(std::string_view request, const std::function<std::string()>& text);

/// *Callers* the thread that runs the loop.
class metrics_server {
 public:
  /// The longest request that is accepted.
  static constexpr std::size_t longest_request = 4096;

  /// Listens, and serves the result of `text` while the loop runs. `loop` must outlive the server. *Errors*
  /// config_value if the port is in use or the address is not of this host.
  metrics_server(pgas::detail::event_loop& loop, const pgas::detail::tcp_address& where,
                 std::function<std::string()> text);
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;
  ~metrics_server();

  [[nodiscard]] std::uint16_t port() const noexcept { return listener_.port(); }
  /// The next time at which check() ends a connection. Empty while no client is connected.
  [[nodiscard]] std::optional<pgas::detail::clock::time_point> next_wake() const noexcept;
  /// Ends connections that have lasted too long.
  void check() noexcept;

 private:
  struct client {
    pgas::detail::unique_fd socket;
    std::string address;  ///< without the port
    pgas::detail::clock::time_point until;
    std::string request;
    std::string response;     ///< the response; empty if the request is not complete
    std::size_t sent = 0;     ///< the number of sent bytes of the response
    std::size_t dropped = 0;  ///< the number of dropped bytes after the request
  };

  void accept();
  /// Ends one connection. Prefers clients that have their whole answer, then clients without a complete request. Among
  /// equal clients, ends the oldest connection of the address with the most connections. Therefore clients that connect
  /// and send nothing cannot block a client that sends a request.
  void make_room() noexcept;
  void on_event(int fd) noexcept;
  /// Returns whether the connection stays open.
  [[nodiscard]] bool advance(client& from);
  [[nodiscard]] bool read(client& from);
  [[nodiscard]] bool write(client& to);
  void close(client& which) noexcept;

  pgas::detail::event_loop& loop_;
  pgas::detail::tcp_listener listener_;
  std::function<std::string()> text_;
  std::vector<client> clients_;
};

}  // namespace pgas_info
