/// @file
/// The exporter of a process: its registered objects and tickets, its socket, and the thread that answers importers.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "common/net/event_loop.hpp"
#include "common/net/unix_socket.hpp"
#include "common/unforked_fd.hpp"
#include "host/log/logger.hpp"
#include "host/share/export_registration.hpp"
#include "host/share/share_message.hpp"

namespace pgas::detail {

/// *Callers* any thread, unless stated otherwise.
class exporter {
 public:
  /// The exporter of this process. It ends with its last owner.
  [[nodiscard]] static std::shared_ptr<exporter> of_process();

  /// Listens in `directory`, or under an abstract name if `directory` is empty. *Errors* system, config_value.
  exporter(const std::string& directory, const config& settings);
  ~exporter();
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  [[nodiscard]] std::uint64_t add(std::shared_ptr<const exportable_memory> memory, ticket_kind kind);
  [[nodiscard]] std::string make_ticket(std::uint64_t id, const ticket_options& options, blob payload,
                                        std::uint64_t carried);
  void revoke(std::uint64_t id);
  [[nodiscard]] std::vector<opener> opened_by(std::uint64_t id) const;
  void remove(std::uint64_t id) noexcept;

 private:
  /// Memory, or the page of a timeline or of an event.
  struct exported_object {
    std::shared_ptr<const exportable_memory> memory;
    ticket_kind kind = ticket_kind::memory;
    bool read_only = false;  ///< set if the importer may only read

    /// The description for lists and the log, for example "4 KiB of host memory".
    [[nodiscard]] std::string text() const;
  };
  struct export_record {
    exported_object what;
    std::chrono::system_clock::time_point since;
  };
  struct ticket_record {
    std::uint64_t object;
    std::uint64_t carried;  ///< the timeline that the ticket carries; 0: none
    bits128 key;
    std::optional<clock::time_point> expires;
    int opens;
    int opened = 0;
    uid_t user;
    bool read_only;  ///< set if this ticket gives read-only access; other tickets may allow writes
  };
  /// A connection. Only the exporter's thread changes it, and holds the mutex while it changes fields that other
  /// threads read.
  struct session {
    unforked_fd socket;
    socket_owner owner{};
    pid_t pid = 0;                              ///< the process id from the credentials, or as the importer reports it
    std::optional<clock::time_point> deadline;  ///< set until the last handle is sent
    std::uint64_t object = 0;                   ///< the object that the importer has opened; 0: none yet
    /// The ticket by which the object was opened; 0 for a timeline that a ticket carries.
    std::uint64_t ticket = 0;
    std::chrono::system_clock::time_point since;  ///< the time at which the importer opened the object
    std::optional<exported_object> sending;       ///< set while handles remain to be sent
    std::size_t sent = 0;                         ///< the number of handles sent so far
    bool revoked = false;                         ///< whether to report the revocation when all handles are sent
  };
  using sessions = std::map<std::uint64_t, session>;

  // ---- functions of the exporter's thread

  void serve();
  void accept();
  /// Closes one connection that has sent no request: finds the process with the most connections without a request, and
  /// closes the oldest of these connections. False if all connections have sent requests.
  bool drop_silent();
  /// Refuses the next waiting connection, because no descriptor is left.
  void turn_away(int why);
  void receive(std::uint64_t number);
  void answer(sessions::iterator at, const share_request& request);
  /// Checks a request. Counts an allowed request as an opening of the ticket. Otherwise throws the error that the
  /// importer receives.
  void admit(session& from, const share_request& request, bits128& secret);
  /// The timeline that a ticket carries, for a process that has opened the ticket.
  [[nodiscard]] std::uint64_t carried_for(const session& from, const share_request& request, const ticket_record& by);
  /// Sends the next packets of a session, or ends the session.
  void go_on(sessions::iterator at, const share_request* request, const bits128& secret);
  /// Sends the next handles until the socket is full. False if the socket has failed.
  [[nodiscard]] bool send_more(session& to, const share_request* request, const bits128& secret);
  void list(const session& to);
  void refuse(int socket, code why, std::string_view text) noexcept;
  static void tell(const session& to, share_reply::status what) noexcept;
  void drop(sessions::iterator at);
  void drop_late();
  [[nodiscard]] bool expects(uid_t user) const;
  [[nodiscard]] std::string listing() const;

  log::logger log_;
  unix_listener listener_;
  const ticket_exporter self_;
  event_loop loop_;
  unique_fd spare_;  ///< a reserved descriptor, closed for a moment when the process has no other descriptor left
  mutable std::mutex mutex_;
  std::map<std::uint64_t, export_record> exports_;
  std::map<std::uint64_t, ticket_record> tickets_;
  sessions sessions_;
  std::uint64_t next_ = 1;
  std::size_t pending_ = 0;  ///< the number of sessions with a deadline
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace pgas::detail
