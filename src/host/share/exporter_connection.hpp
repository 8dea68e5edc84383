/// @file
/// Opening tickets: the connection to an exporter, and what came over it.
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

/// A connection to the exporter of a ticket that this process has proven. While it is open the exporter lists this
/// process. *Callers* any thread.
class exporter_connection {
 public:
  exporter_connection(ticket opened, unforked_fd socket, unforked_fd process) noexcept
      : ticket_(std::move(opened)), socket_(std::move(socket)), process_(std::move(process)) {}

  /// Leaves no socket behind of an exporter that was killed.
  ~exporter_connection();
  exporter_connection(const exporter_connection&) = delete;
  exporter_connection& operator=(const exporter_connection&) = delete;

  [[nodiscard]] const ticket& opened() const noexcept { return ticket_; }
  /// Whether the exporter still runs, by the connection's end and by its process where this one sees it.
  [[nodiscard]] bool alive();
  /// *Errors* peer_lost, naming the exporter, unless alive().
  void check();
  /// Whether the ticket could be opened again now. *Errors* peer_lost; authentication where it has expired or was
  /// revoked.
  void check_ticket();

 private:
  /// Takes what the exporter has said meanwhile.
  void look();

  const ticket ticket_;
  std::mutex mutex_;
  unforked_fd socket_;
  unforked_fd process_;  ///< a pidfd, where the kernel has them and shows the process
  bool revoked_ = false;
  bool freed_ = false;
  bool ended_ = false;  ///< the connection, without the exporter having freed the thing
};

/// What a ticket has opened.
struct opened_ticket {
  std::unique_ptr<exporter_connection> connection;
  blob description;
  std::vector<shared_piece> pieces;
};

/// Opens a ticket. *Errors* as opened_memory::open(); also handle_invalid unless it is of this kind, or, where that is
/// a timeline, of memory that carries one.
[[nodiscard]] opened_ticket open_ticket(const ticket& which, ticket_kind kind, const deadline& limit);

/// What the process that listens at `socket` exports and who has it open, as lines of printable text, 4 MiB at most.
/// *Errors* authentication for a process of another user, unless this one is root's; peer_lost, wait_timeout.
[[nodiscard]] std::string list_exports(const std::string& socket, const deadline& limit);

/// Removes the sockets of exporters in `directory` that were killed, of this user.
void sweep_sockets(const std::string& directory) noexcept;

}  // namespace pgas::detail
