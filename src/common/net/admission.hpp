/// @file
/// The accepting side of a job: listeners, and the connections whose other side is not authenticated yet. Any process
/// can connect and send any data. Each connection is served independently and has a time limit. The number of
/// unauthenticated connections is limited, so that foreign processes cannot keep members out. Used by rank 0 of a TCP
/// world and by the leaders of the control plane.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/address.hpp"
#include "common/net/event_loop.hpp"
#include "common/net/handshake.hpp"
#include "common/net/tcp_socket.hpp"

namespace pgas::detail {

/// A process that has connected.
struct caller {
  handshake talk;
  std::string name;                    ///< "process 123" or "10.0.0.1:4711"
  std::string host;                    ///< the host for which the connection is counted
  std::optional<tcp_address> address;  ///< set for a connection over TCP
  clock::time_point due;
};

/// *Callers* the thread that runs the loop.
class admission {
 public:
  struct limits {
    milliseconds time_to_prove;
    std::size_t most;                    ///< the largest number of unauthenticated connections
    std::size_t most_of_host;            ///< the largest number of unauthenticated connections of one host
    bool waits_for_descriptors = false;  ///< if no descriptor or memory is left: true pauses the listener, false throws
  };
  /// @param on_proven takes a connection whose other side is authenticated: the other side knows the job's key
  /// @param on_refused receives the name of a process and the reason why its connection was closed. A process that has
  /// introduced itself might have chosen another connection. It is therefore not reported if it closes this
  /// connection, or if refuse_all() closes this connection.
  /// @param key must outlive the object
  admission(event_loop& loop, std::span<const std::byte> key, int me, const limits& most,
            std::function<void(caller)> on_proven,
            std::function<void(const std::string& name, const std::string& why)> on_refused);
  ~admission();
  admission(const admission&) = delete;
  admission& operator=(const admission&) = delete;

  /// Accepts connections over TCP. The listener must outlive the object.
  void listen(const tcp_listener& at);
  /// Accepts connections of processes of this user over a UNIX socket.
  void listen_local(int listener);

  /// The time at which expire() has work.
  [[nodiscard]] std::optional<clock::time_point> due() const;
  void expire();
  /// Refuses all connections that are not authenticated yet.
  void refuse_all();

 private:
  using place = std::list<caller>::iterator;

  /// Called after a failure to accept. Returns whether to continue immediately.
  bool go_on_after(int listener, int failure);
  void add(unique_fd fd, std::string name, std::string host, const std::optional<tcp_address>& address);
  void receive(place who);
  void refuse(place who, const std::string& why);
  caller remove(place who);
  /// Closes the oldest connection that has sent no data; if all connections have sent data, closes the oldest
  /// connection. Returns false if there is no connection to close.
  /// @param host only connections of this host are closed; null: connections of all hosts
  bool make_room(const std::string* host);

  event_loop& loop_;
  const std::span<const std::byte> key_;
  const int me_;
  const limits limits_;
  const std::function<void(caller)> on_proven_;
  const std::function<void(const std::string&, const std::string&)> on_refused_;
  std::vector<int> listeners_;
  std::list<caller> callers_;  ///< in the order of arrival
};

}  // namespace pgas::detail
