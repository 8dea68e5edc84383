/// @file
/// Opens tickets: the connection to an exporter, and the object that the exporter sends.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "common/deadline.hpp"
#include "common/unforked_fd.hpp"
#include "host/share/export_registration.hpp"
#include "host/share/share_message.hpp"
#include "host/share/ticket.hpp"

namespace pgas::detail {

/// A connection to the exporter of a ticket. The process has authenticated itself with the ticket. While the connection
/// is open, the exporter lists this process as an importer. *Callers* any thread.
class exporter_connection {
 public:
  exporter_connection(ticket opened, unforked_fd socket, unforked_fd process) noexcept
      : ticket_(std::move(opened)), socket_(std::move(socket)), process_(std::move(process)) {}

  /// Removes the socket of the exporter if the exporter was killed.
  ~exporter_connection();
  exporter_connection(const exporter_connection&) = delete;
  exporter_connection& operator=(const exporter_connection&) = delete;

  [[nodiscard]] const ticket& opened() const noexcept { return ticket_; }
  /// Whether the exporter still runs. Checks the connection. Also checks the exporter's process, if it is visible to
  /// this process.
  [[nodiscard]] bool alive();
  /// *Errors* peer_lost with the name of the exporter, unless alive().
  void check();
  /// Checks whether the ticket could be opened again now. *Errors* peer_lost; authentication if the ticket has expired
  /// or was revoked.
  void check_ticket();

 private:
  /// Reads the messages that the exporter has sent since the last call.
  void look();

  const ticket ticket_;
  std::mutex mutex_;
  unforked_fd socket_;
  unforked_fd process_;  ///< a pidfd, if the system supports pidfds and the process is visible
  bool revoked_ = false;
  bool freed_ = false;
  bool ended_ = false;  ///< the connection has ended, but the exporter has not freed the object
};

/// The object that a ticket has opened.
struct opened_ticket {
  std::unique_ptr<exporter_connection> connection;
  blob description;
  std::vector<shared_piece> pieces;
};

/// Opens a ticket. *Errors* as opened_memory::open(); handle_invalid if the ticket is of another kind. A memory ticket
/// that carries a timeline can also be opened as a timeline.
[[nodiscard]] opened_ticket open_ticket(const ticket& which, ticket_kind kind, const deadline& limit);

/// Lists the exports of the process that listens at `socket`, and their importers, as printable text of at most 4 MiB.
/// *Errors* authentication for a process of another user, unless this process runs as root; peer_lost, wait_timeout.
[[nodiscard]] std::string list_exports(const std::string& socket, const deadline& limit);

/// Removes the sockets of killed exporters of this user from `directory`.
void sweep_sockets(const std::string& directory) noexcept;

}  // namespace pgas::detail
