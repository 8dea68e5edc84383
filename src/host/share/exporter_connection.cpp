#include "host/share/exporter_connection.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <set>
#include <thread>

#include "common/net/unix_socket.hpp"
#include "common/printable.hpp"
#include "common/process_identity.hpp"
#include "common/step_times.hpp"
#include "common/system_error.hpp"
#include "common/value_bytes.hpp"

namespace pgas::detail {

namespace {

/// The pause between connection attempts while the exporter's queue is full.
constexpr milliseconds retry_after{1};

unix_address address_of(const std::string& socket) {
  if (socket.starts_with('@')) return {"", socket.substr(1)};
  const std::size_t slash = socket.rfind('/');
  if (slash == std::string::npos || slash == 0 || socket.size() >= sizeof(sockaddr_un::sun_path))
    throw error(code::handle_invalid, fmt::format("the ticket names an impossible socket: \"{}\"", printable(socket)));
  return {socket.substr(0, slash), socket.substr(slash + 1)};
}

/// Removes the socket file of an exporter that was killed, because no process will listen at this address again. Checks
/// the file's name first, because a forged ticket could name any file.
void remove_dead_socket(const std::string& socket) {
  const std::string name = socket.substr(socket.rfind('/') + 1);
  if (!socket.starts_with('@') && name.starts_with(socket_prefix) &&
      connect_to(address_of(socket)).error == ECONNREFUSED)
    ::unlink(socket.c_str());
}

/// Removes the sockets of killed exporters from the directory of `socket`. If an exporter had no importers when it was
/// killed, no connection removes its socket. Runs once for each directory in a process.
void sweep_beside(const std::string& socket) {
  if (socket.starts_with('@')) return;
  struct swept {
    std::mutex mutex;
    std::set<std::string> directories;
  };
  auto& done = of_this_process<swept>();
  const std::string directory = socket.substr(0, socket.rfind('/'));
  const std::lock_guard lock(done.mutex);
  if (done.directories.insert(directory).second) sweep_sockets(directory);
}

[[noreturn]] void lost(const std::string& who, std::string_view why) {
  throw error(code::peer_lost, fmt::format("the exporter, {}, {}", who, why));
}

/// @param was_there true if a ticket shows that the exporter listened at this address earlier; if false, the exporter
/// can start to listen later
unforked_fd connect(const std::string& who, const std::string& socket, bool was_there, const deadline& limit) {
  const unix_address address = address_of(socket);
  for (;;) {
    connect_result result = connect_to(address);
    if (result.fd) return unforked_fd(std::move(result.fd));
    switch (result.error) {
      case EAGAIN: break;
      case ECONNREFUSED:
        if (was_there) remove_dead_socket(socket);
        [[fallthrough]];
      case ENOENT:
        lost(who, fmt::format("has ended, has freed it, or is unreachable: no process listens at {}. If the two "
                              "processes are in containers with separate networks, set PGAS_SOCKET_DIR of the exporter "
                              "to a directory that both see under the same name",
                              printable(address.text())));
      case EACCES:
        throw error(code::authentication,
                    fmt::format("this process's user may not connect to {} at {}: the ticket is for another user", who,
                                printable(address.text())));
      default: throw_system(fmt::format("connecting to {} at {}", who, printable(address.text())), result.error);
    }
    if (limit.expired())
      throw error(code::wait_timeout, fmt::format("{} does not answer: too many connections wait for it", who));
    std::this_thread::sleep_for(retry_after);
  }
}

/// Receives the next packet of the exporter. *Errors* peer_lost, wait_timeout, handle_invalid.
share_reply receive(int fd, const std::string& who, std::span<std::byte> buffer, std::span<const std::byte>& body,
                    std::vector<unique_fd>& fds, const deadline& limit) {
  for (;;) {
    received_packet packet = receive_packet(fd, buffer);
    switch (packet.what) {
      case received_packet::status::nothing_yet:
        if (!wait_for_events(fd, POLLIN, limit))
          throw error(code::wait_timeout,
                      fmt::format("{} has not answered in time: it may be stopped, in a debugger for "
                                  "instance; raise the timeout",
                                  who));
        continue;
      case received_packet::status::closed: lost(who, "has ended or closed the connection without an answer");
      case received_packet::status::oversized: break;
      case received_packet::status::complete: {
        if (packet.descriptors_lost)
          throw error(
              code::system,
              fmt::format("this process can't receive the descriptors from {}: raise the limit (ulimit -n)", who));
        share_reply head;
        body = packet.bytes;
        if (!take_value(body, head) || head.magic != share_reply::expected_magic ||
            head.version != share_request::current_version || head.bytes != body.size())
          break;
        fds = std::move(packet.fds);
        return head;
      }
    }
    throw error(code::handle_invalid, fmt::format("{} does not use the protocol of this version of pgas", who));
  }
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Throws the error that the exporter has sent. Accepts only the error codes that an exporter uses.
[[noreturn]] void refused(const share_reply& head, std::span<const std::byte> text, const std::string& who) {
  if (head.what == share_reply::status::freed || head.what == share_reply::status::revoked)
    lost(who, "has just freed or revoked it");
  if (head.what != share_reply::status::refused)
    throw error(code::handle_invalid, fmt::format("{} sent an unexpected answer", who));
  switch (const auto why = static_cast<code>(head.error); why) {
    case code::authentication:
    case code::version_mismatch:
    case code::out_of_memory:
    case code::handle_exchange:
    case code::device_failed:
    case code::system: throw error(why, as_text(text));
    default: throw error(code::handle_invalid, as_text(text));
  }
}

void take_handles(std::span<const std::byte> body, std::vector<unique_fd>& fds, std::vector<shared_piece>& pieces) {
  const auto wrong = [] {
    throw error(code::handle_invalid,
                "the exporter's answer contradicts itself: use the same version of pgas on both sides");
  };
  if (body.size() % sizeof(share_handle) != 0) wrong();
  std::size_t used = 0;
  for (share_handle handle; take_value(body, handle);) {
    if (handle.kind > static_cast<std::uint8_t>(handle_kind::named) || handle.bytes == 0) wrong();
    shared_piece piece;
    piece.bytes = handle.bytes;
    piece.handle.kind = static_cast<handle_kind>(handle.kind);
    piece.handle.foreign = handle.foreign != 0;
    piece.handle.bytes = handle.data;
    if (handle.has_fd != 0) {
      if (used == fds.size()) wrong();
      piece.handle.fd = std::move(fds[used++]);
    }
    pieces.push_back(std::move(piece));
  }
  if (used != fds.size()) wrong();
}

void send(int fd, const share_request& request) {
  // If the exporter has refused this process and closed the connection, sending fails, and the caller then receives the
  // refusal. Therefore this failure is not reported.
  const int failed = send_packet(fd, bytes_of(request), {}, {});
  if (failed != 0 && failed != EPIPE && failed != ECONNRESET) throw_system("asking for a ticket", failed);
}

/// Opens a descriptor that reports the exporter's end. Empty if this process does not see the exporter's process, or
/// sees another process with the same process id.
unforked_fd watch(int socket, const ticket_exporter& exporter) {
  const std::optional<socket_owner> owner = peer_credentials(socket);
  if (!owner || owner->pid != exporter.pid) return {};
  unique_fd process = open_pidfd(socket);
  return process && still_runs(exporter.pid, exporter.start) ? unforked_fd(std::move(process)) : unforked_fd();
}

std::string expired_text(const ticket_exporter& exporter) {
  return fmt::format("the ticket has expired: ask {} for a new one", name_of(exporter));
}

bool expired(const ticket& which) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return which.expires > 0 && std::chrono::duration_cast<std::chrono::milliseconds>(now).count() >= which.expires;
}

}  // namespace

opened_ticket open_ticket(const ticket& which, ticket_kind kind, const deadline& limit) {
  const std::string who = name_of(which.exporter);
  const bool carried = kind == ticket_kind::timeline && which.kind == ticket_kind::memory;
  if (which.kind != kind && !carried)
    throw error(code::handle_invalid,
                fmt::format("the ticket of {} opens {}, not {}", who, name_of(which.kind), name_of(kind)));
  if (which.exporter.machine != this_machine() && carried)
    throw error(code::peer_unreachable,
                fmt::format("{} is on another host, and the ticket of its memory carries a timeline, which can't be "
                            "opened there: ask for a ticket without one, and order the two sides otherwise",
                            who));
  if (which.exporter.machine != this_machine())
    throw error(code::peer_unreachable,
                fmt::format("{} is on another host, or in another virtual machine of this host, and descriptors can't "
                            "be sent between them. GPU memory with a fabric handle can be opened on another host",
                            who));
  if (expired(which)) throw error(code::authentication, expired_text(which.exporter));
  unforked_fd socket = connect(who, which.exporter.socket, true, limit);
  step_times::lap("connect");
  share_request request;
  request.what = carried ? share_request::kind::timeline : share_request::kind::open;
  request.ticket = which.id;
  request.nonce = random_bits();
  request.pid = ::getpid();
  request.code = code_of(which.key, request);
  send(socket.get(), request);

  blob buffer(max_share_packet);
  opened_ticket result;
  std::span<const std::byte> body;
  std::vector<unique_fd> fds;
  const share_reply first = receive(socket.get(), who, buffer, body, fds, limit);
  if (first.what != share_reply::status::granted) refused(first, body, who);
  if (!same_bits(first.code, code_of(which.key, request, std::span(buffer).first(sizeof first + body.size()))))
    throw error(
        code::authentication,
        fmt::format("the process that answers as {} does not know the ticket: another process uses its socket now",
                    who));
  if (first.description > body.size() || first.handles > max_handles)
    throw error(code::handle_invalid, fmt::format("the answer of {} contradicts itself", who));
  result.description.assign(body.begin(), body.begin() + first.description);
  take_handles(body.subspan(first.description), fds, result.pieces);
  while (result.pieces.size() < first.handles) {
    const share_reply next = receive(socket.get(), who, buffer, body, fds, limit);
    if (next.what != share_reply::status::more) refused(next, body, who);
    take_handles(body, fds, result.pieces);
  }
  if (result.pieces.size() != first.handles)
    throw error(code::handle_invalid, fmt::format("{} has sent more handles than announced", who));
  step_times::lap("answer");
  unforked_fd process = watch(socket.get(), which.exporter);
  step_times::lap("look at the exporter");
  sweep_beside(which.exporter.socket);
  result.connection = std::make_unique<exporter_connection>(which, std::move(socket), std::move(process));
  return result;
}

std::string list_exports(const std::string& socket, const deadline& limit) {
  constexpr std::size_t most = std::size_t{4} << 20;
  const std::string who = "the process at " + printable(socket);
  const unforked_fd fd = connect(who, socket, false, limit);
  const std::optional<socket_owner> owner = peer_credentials(fd.get());
  if (!owner || (owner->uid != ::geteuid() && ::geteuid() != 0))
    throw error(
        code::authentication,
        fmt::format("it is a process of user {}, whose answers can't be trusted: only processes of this user are asked",
                    owner ? static_cast<std::int64_t>(owner->uid) : -1));
  share_request request;
  request.what = share_request::kind::list;
  request.pid = ::getpid();
  send(fd.get(), request);
  blob buffer(max_share_packet);
  std::string text;
  for (;;) {
    std::span<const std::byte> body;
    std::vector<unique_fd> fds;
    const share_reply head = receive(fd.get(), who, buffer, body, fds, limit);
    if (head.what != share_reply::status::more && head.what != share_reply::status::listed) refused(head, body, who);
    text += as_text(body);
    if (head.what != share_reply::status::listed && text.size() < most && !limit.expired()) continue;
    std::string shown;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      shown += printable(std::string_view(text).substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    if (head.what != share_reply::status::listed) shown += fmt::format("{}: the rest of its list is too long\n", who);
    return shown;
  }
}

exporter_connection::~exporter_connection() {
  try {
    // The operating system can close the connections of a killed process before it closes the listening socket of that
    // process. If this destructor runs between the two events, the next exporter in the directory removes the socket's
    // file.
    if (!alive() && !freed_) remove_dead_socket(ticket_.exporter.socket);
  } catch (const std::exception&) {
    // The next exporter in the directory removes the sockets.
  }
}

void sweep_sockets(const std::string& directory) noexcept {
  constexpr time_t young = 10;  // in seconds; if the file is younger, its exporter has perhaps not called listen() yet
  try {
    std::error_code none;
    for (auto item = std::filesystem::directory_iterator(directory, none);
         item != std::filesystem::directory_iterator(); item.increment(none)) {
      struct stat about {};
      const std::string path = item->path().string();
      if (::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode) && about.st_uid == ::geteuid() &&
          ::time(nullptr) - about.st_mtime > young)
        remove_dead_socket(path);
    }
  } catch (const std::exception&) {
    // The next exporter that starts tries again.
  }
}

void exporter_connection::look() {
  while (socket_) {
    share_reply head;
    const received_packet packet = receive_packet(socket_.get(), writable_bytes_of(head));
    if (packet.what == received_packet::status::nothing_yet) return;
    if (packet.what == received_packet::status::complete && packet.bytes.size() == sizeof head) {
      revoked_ = revoked_ || head.what == share_reply::status::revoked;
      freed_ = freed_ || head.what == share_reply::status::freed;
      if (!freed_) continue;
    }
    ended_ = !freed_;
    socket_.close();
  }
}

bool exporter_connection::alive() {
  const std::lock_guard lock(mutex_);
  if (process_) {
    pollfd socket{process_.get(), POLLIN, 0};
    if (::poll(&socket, 1, 0) > 0) {
      process_.close();
      ended_ = true;
    }
  }
  look();
  // After the exporter has freed the object, the connection is closed. Without a descriptor of the exporter's process,
  // the end of that process cannot be detected, and the exporter counts as ended.
  return !ended_ && (socket_ || process_);
}

void exporter_connection::check() {
  if (alive()) return;
  throw error(code::peer_lost, fmt::format("{} has ended{}: opened memory can still be used, new requests fail",
                                           name_of(ticket_.exporter), freed_ && !ended_ ? " or has freed it" : ""));
}

void exporter_connection::check_ticket() {
  check();
  const std::lock_guard lock(mutex_);
  if (expired(ticket_)) throw error(code::authentication, expired_text(ticket_.exporter));
  if (revoked_ || freed_)
    throw error(code::authentication,
                fmt::format("the ticket was revoked by {}: ask it for a new one", name_of(ticket_.exporter)));
}

}  // namespace pgas::detail
