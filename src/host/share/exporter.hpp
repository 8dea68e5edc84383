/// @file
/// The exporter of a process: its registered things and tickets, its socket, and the thread that answers importers.
#pragma once

#include <map>
#include <mutex>
#include <thread>

#include "common/net/event_loop.hpp"
#include "common/net/unix_socket.hpp"
#include "common/unforked_fd.hpp"
#include "host/log/logger.hpp"
#include "host/share/export_registration.hpp"
#include "host/share/share_message.hpp"

namespace pgas::detail {

/// *Callers* any thread, unless said otherwise.
class exporter {
 public:
  /// That of this process, which ends with its last owner.
  [[nodiscard]] static std::shared_ptr<exporter> of_process();

  /// Listens in `directory`, or under an abstract name where it is empty. *Errors* system, config_value.
  exporter(const std::string& directory, const config& settings);
  ~exporter();
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  [[nodiscard]] std::uint64_t add(std::shared_ptr<const shared_object> what);
  [[nodiscard]] std::string make_ticket(std::uint64_t of, const ticket_options& options, blob payload,
                                        std::uint64_t carried);
  void revoke(std::uint64_t of);
  [[nodiscard]] std::vector<opener> opened_by(std::uint64_t of) const;
  void remove(std::uint64_t of) noexcept;

 private:
  struct export_record {
    std::shared_ptr<const shared_object> what;
    std::chrono::system_clock::time_point since;
  };
  struct ticket_record {
    std::uint64_t of;
    std::uint64_t carried;  ///< the timeline that goes with it, 0: none
    bits128 key;
    std::optional<clock::time_point> expires;
    int opens;
    int opened = 0;
    uid_t user;
    bool read_only;  ///< though the memory may be writable for others
  };
  /// A connection. Only the thread changes it, with the mutex held where others read.
  struct session {
    unforked_fd socket;
    socket_owner owner{};
    pid_t pid = 0;                                 ///< that the importer has
    std::optional<clock::time_point> deadline;     ///< until the last handle is sent
    std::uint64_t of = 0;                          ///< what it has opened, 0: nothing yet
    std::uint64_t ticket = 0;                      ///< by which ticket; 0 for a timeline that a ticket carries
    std::chrono::system_clock::time_point since;   ///< when
    std::shared_ptr<const shared_object> sending;  ///< while handles are still to be sent
    std::size_t sent = 0;                          ///< handles
    bool revoked = false;                          ///< to be reported when all handles are sent
  };
  using sessions = std::map<std::uint64_t, session>;

  // ---- of the thread

  void serve();
  void accept();
  /// Drops the oldest connection that has sent no request, of the process that has most of them. False: there is none.
  bool drop_silent();
  /// For want of a descriptor the next one that waits is told so.
  void turn_away(int why);
  void receive(std::uint64_t number);
  void answer(sessions::iterator at, const share_request& request);
  /// Counts the request as granted where it may be; else throws what is to be told.
  void admit(session& from, const share_request& request, bits128& secret);
  /// The timeline that a ticket carries, for a process that has opened the ticket.
  [[nodiscard]] std::uint64_t carried_for(const session& from, const share_request& request, const ticket_record& by);
  /// Sends what a session is to get, or ends it.
  void go_on(sessions::iterator at, const share_request* request, const bits128& secret);
  /// The next handles, as far as the socket takes them. False when it has failed.
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
  unique_fd spare_;  ///< given up for a moment where no other descriptor is left
  mutable std::mutex mutex_;
  std::map<std::uint64_t, export_record> exports_;
  std::map<std::uint64_t, ticket_record> tickets_;
  sessions sessions_;
  std::uint64_t next_ = 1;
  std::size_t pending_ = 0;  ///< sessions with a deadline
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace pgas::detail
