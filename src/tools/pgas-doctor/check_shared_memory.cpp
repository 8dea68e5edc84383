// /dev/shm, by which UCX passes data between the PEs of a host. The host heap needs none of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/unique_fd.hpp"
#include "host/control/peer_descriptor.hpp"
#include "host/log/format_bytes.hpp"
#include "tools/pgas-doctor/job_checks.hpp"

namespace pgas::doctor {

namespace {

constexpr const char* shared_memory = "/dev/shm";

}  // namespace

row check_shared_memory(const job& all) {
  const bool needed = all.proxied() && all.local() > 1 && all.hosts() == 1;
  const auto result = [&](const std::string& found) -> row {
    if (!needed) return {"shared memory", verdict::ok, found + "; PEs that share memory by handles need none"};
    return {"shared memory", verdict::fails, found, "UCX needs it between the PEs of a host: it starts no proxy",
            "mount -t tmpfs tmpfs /dev/shm (docker run --shm-size=1g); or UCX_TLS=tcp, which is slow"};
  };
  const std::string name = fmt::format("{}/pgas-doctor-{}", shared_memory, detail::random_hex(8));
  const detail::unique_fd file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return result(fmt::format("{}: {}", shared_memory, std::strerror(errno)));
  ::unlink(name.c_str());
  struct statvfs about {};
  if (::fstatvfs(file.get(), &about) != 0) return result(fmt::format("{}: {}", shared_memory, std::strerror(errno)));
  const std::size_t free = static_cast<std::size_t>(about.f_bavail) * about.f_frsize;
  const std::size_t least = (std::size_t{5} << 20) * static_cast<std::size_t>(all.local());
  const std::string found = fmt::format("{} of {} are free", detail::format_bytes(free), shared_memory);
  return free < least ? result(found) : row{"shared memory", verdict::ok, found};
}

}  // namespace pgas::doctor
