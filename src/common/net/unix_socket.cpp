#include "common/net/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/system_error.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

unix_address::unix_address(const std::string& directory, const std::string& name) : name_(name) {
  address_.sun_family = AF_UNIX;
  const bool abstract = directory.empty();
  const std::string where = abstract ? std::string(1, '\0') + name : directory + "/" + name;
  const std::size_t room = sizeof(address_.sun_path) - 1;
  if (where.size() > room)
    throw error(code::config_value,
                fmt::format("PGAS_SOCKET_DIR={}: too long for a socket, which leaves {} characters for the "
                            "directory: choose a shorter path",
                            directory, room - name.size() - 1));
  std::memcpy(address_.sun_path, where.data(), where.size());
  length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + where.size() + (abstract ? 0 : 1));
  if (!abstract) path_ = where;
}

const sockaddr* unix_address::raw() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }

std::string unix_address::text() const { return path_.empty() ? "@" + name_ : path_; }

unix_listener::unix_listener(const unix_address& address, int backlog)
    : fd_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (!fd_) throw_system("socket(AF_UNIX)");
  // The mode is set before bind(). The file has this mode from the start, so other users can never connect.
  if (!address.path().empty()) ::fchmod(fd_.get(), S_IRUSR | S_IWUSR);
  if (::bind(fd_.get(), address.raw(), address.length()) != 0) {
    const int why = errno;
    if (address.path().empty()) throw_system("bind " + address.text(), why);
    throw error(code::config_value,
                fmt::format("PGAS_SOCKET_DIR: no socket can be made at {}: {}; name a directory that exists "
                            "and that this user may write to",
                            address.path(), errno_text(why)));
  }
  path_ = address.path();
  if (::listen(fd_.get(), backlog) != 0) {
    const int why = errno;
    if (!path_.empty()) ::unlink(path_.c_str());
    throw_system("listen " + address.text(), why);
  }
}

unix_listener::unix_listener(unix_listener&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, std::string())) {}

unix_listener::~unix_listener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

unique_fd listen_for_streams(const unix_address& address, int backlog) {
  unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  if (::bind(fd.get(), address.raw(), address.length()) != 0 || ::listen(fd.get(), backlog) != 0) {
    const int why = errno;
    fd.reset();
    errno = why;
  }
  return fd;
}

connect_result connect_to(const unix_address& address, int type) {
  connect_result result;
  result.fd = unique_fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!result.fd) return {unique_fd(), errno};
  while (::connect(result.fd.get(), address.raw(), address.length()) != 0) {
    if (errno == EINTR) continue;
    return {unique_fd(), errno};
  }
  return result;
}

std::optional<socket_owner> peer_credentials(int fd) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
  return socket_owner{credentials.uid, credentials.pid};
}

unique_fd open_pidfd(int fd) {
  const std::optional<socket_owner> owner = peer_credentials(fd);
  bool gone = false;
  return process_of(owner ? owner->pid : 0, gone);
}

unique_fd process_of(pid_t pid, bool& gone) {
  gone = false;
#ifdef SYS_pidfd_open
  // 0 means that the process has no process id in this namespace.
  if (pid > 0 && pid != ::getpid()) {
    unique_fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // exec closes the descriptor
    gone = !process && errno == ESRCH;
    return process;
  }
#else
  static_cast<void>(pid);
#endif
  return {};
}

namespace {

/// Room for the descriptors of one packet, with the alignment that the kernel requires.
union control_buffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(max_fds_per_packet * sizeof(int))];
};

iovec as_iovec(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // sendmsg() only reads the bytes
}

/// Takes ownership of every received descriptor, so that none leaks.
void collect_fds(msghdr& message, std::vector<unique_fd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
}

}  // namespace

int send_packet(int fd, std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) {
  iovec parts[2] = {as_iovec(head), as_iovec(body)};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = body.empty() ? 1 : 2;
  control_buffer control{};
  if (!fds.empty()) {
    if (fds.size() > max_fds_per_packet) return E2BIG;
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  while (::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return errno;
  return 0;
}

received_packet receive_packet(int fd, std::span<std::byte> buffer) {
  received_packet result;
  iovec part{buffer.data(), buffer.size()};
  control_buffer control{};
  msghdr message{};
  ssize_t size = -1;
  for (;;) {
    message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof(control.bytes);
    size = ::recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size >= 0) break;
    // ECONNRESET: the peer closed the socket before it read all packets of this process. The kernel reports this once,
    // before the packets that the peer had sent.
    if (errno == EINTR || errno == ECONNRESET) continue;
    result.what = errno == EAGAIN ? received_packet::status::nothing_yet : received_packet::status::closed;
    return result;
  }
  collect_fds(message, result.fds);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    result.fds.clear();
    result.descriptors_lost = true;
  }
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    result.fds.clear();
    result.what = received_packet::status::oversized;
  } else if (size == 0) {
    result.fds.clear();
    result.what = received_packet::status::closed;
  } else {
    result.what = received_packet::status::complete;
    result.bytes = buffer.first(static_cast<std::size_t>(size));
  }
  return result;
}

}  // namespace pgas::detail
