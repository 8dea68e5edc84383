// What is exported, and the tickets for it. exporter_session.cpp answers importers.
#include "host/share/exporter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "common/system_error.hpp"
#include "common/thread.hpp"
#include "host/share/exporter_connection.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

namespace {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  std::memcpy(&number, random_bits().data(), sizeof number);
  return number | 1;  // never 0
}

unix_address new_address(const std::string& directory) {
  return {directory, fmt::format("{}{}-{:016x}", socket_prefix, ::getpid(), random_number())};
}

/// Sets the mode of a socket's file. chmod() would follow a link that another user has put in its place, where the
/// directory lets others rename files. *Errors* system, config_value.
void open_to_everyone(const std::string& path) {
  const unique_fd file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) throw_system("open " + path);
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) throw_system("fstat " + path);
  if (!S_ISSOCK(found.st_mode) || found.st_uid != ::geteuid())
    throw error(code::config_value,
                fmt::format("PGAS_SOCKET_DIR: {} is no longer the socket of this process, since other users can rename "
                            "files in that directory: set its sticky bit (chmod +t), or name another directory",
                            path));
  if (::chmod(fmt::format("/proc/self/fd/{}", file.get()).c_str(), 0666) != 0) throw_system("chmod " + path);
}

constexpr int backlog = 4096;

struct current_exporter {
  std::mutex mutex;
  std::weak_ptr<exporter> now;
};

}  // namespace

std::shared_ptr<exporter> exporter::of_process() {
  auto& current = of_this_process<current_exporter>();
  const std::lock_guard lock(current.mutex);
  std::shared_ptr<exporter> now = current.now.lock();
  if (!now) {
    const config settings = config::from_environment();
    if (!settings.socket_directory.empty()) sweep_sockets(settings.socket_directory);
    now = std::make_shared<exporter>(settings.socket_directory, settings);
    current.now = now;
  }
  return now;
}

exporter::exporter(const std::string& directory, const config& settings)
    : log_(settings),
      listener_([&] {
        const unix_address address = new_address(directory);
        return unix_listener(address, backlog);
      }()),
      self_(this_process([this] {
        sockaddr_un bound{};
        socklen_t length = sizeof bound;
        if (::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&bound), &length) != 0)
          throw_system("getsockname");
        const std::size_t bytes = length - offsetof(sockaddr_un, sun_path);
        if (bound.sun_path[0] == '\0') return "@" + std::string(bound.sun_path + 1, bytes - 1);
        return std::string(bound.sun_path);
      }())),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  loop_.watch(listener_.fd(), POLLIN, [this](short) { accept(); });
  thread_ = start_thread("pgas-share", [this] { serve(); });
  close_after_fork(listener_.fd());
  log_.debug("sharing at {}", self_.socket);
}

exporter::~exporter() {
  stop_ = true;
  loop_.wake();
  thread_.join();
  loop_.end();
  keep_after_fork(listener_.fd());
}

std::uint64_t exporter::add(std::shared_ptr<const shared_object> what) {
  const std::lock_guard lock(mutex_);
  exports_.emplace(next_, export_record{std::move(what), std::chrono::system_clock::now()});
  return next_++;
}

std::string exporter::make_ticket(std::uint64_t of, const ticket_options& options, blob payload,
                                  std::uint64_t carried) {
  if (!(options.lifetime.count() >= 0) || options.opens < 0)
    throw error(code::invalid_argument,
                fmt::format("a ticket that lives {} seconds and can be opened {} times: neither may be negative",
                            options.lifetime.count(), options.opens));
  // So that no clock overflows; it is as good as for ever.
  const auto lifetime = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<std::chrono::duration<double>>(options.lifetime, std::chrono::hours(24 * 3650)));
  ticket made;
  made.id = random_number();
  made.secret = random_bits();
  made.exporter = self_;
  if (lifetime.count() > 0) {
    const auto until = std::chrono::system_clock::now() + lifetime;
    made.expires = std::chrono::ceil<std::chrono::milliseconds>(until.time_since_epoch()).count();
  }
  made.opens = options.opens;
  made.user = options.user.value_or(self_.uid);
  made.payload = std::move(payload);
  made.description = options.description;
  const bool read_only = options.importers == access::read_only;
  ticket_record record{of, carried, {}, std::nullopt, options.opens, 0, made.user, read_only};
  if (lifetime.count() > 0) record.expires = clock::now() + lifetime;
  const std::lock_guard lock(mutex_);
  const shared_object& what = *exports_.at(of).what;
  made.kind = what.kind();
  if (read_only) static_cast<void>(what.read_only());  // whether there is such a form
  std::string text = encode(made);
  record.key = decode(text).key;
  // A file's mode keeps other users away before credentials do.
  if (made.user != self_.uid && self_.socket[0] != '@') open_to_everyone(self_.socket);
  std::erase_if(tickets_,
                [](const auto& entry) { return entry.second.expires && *entry.second.expires < clock::now(); });
  tickets_.emplace(made.id, record);
  return text;
}

void exporter::revoke(std::uint64_t of) {
  const std::lock_guard lock(mutex_);
  std::erase_if(tickets_, [of](const auto& entry) { return entry.second.of == of || entry.second.carried == of; });
  for (auto& [number, one] : sessions_) {
    if (one.of != of || one.revoked) continue;
    one.revoked = true;
    if (!one.sending) tell(one, share_reply::status::revoked);
  }
}

std::vector<opener> exporter::opened_by(std::uint64_t of) const {
  std::vector<opener> openers;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, one] : sessions_) {
    if (one.of != of) continue;
    const auto known = std::ranges::find(openers, one.pid, &opener::pid);  // one that has opened several tickets
    if (known == openers.end())
      openers.push_back({one.pid, one.owner.uid, one.since});
    else
      known->since = std::min(known->since, one.since);
  }
  return openers;
}

void exporter::remove(std::uint64_t of) noexcept {
  std::shared_ptr<const shared_object> last;  // destroyed without the lock
  std::string holders;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(tickets_, [of](const auto& entry) { return entry.second.of == of; });
    if (const auto one = exports_.find(of); one != exports_.end()) {
      last = std::move(one->second.what);
      exports_.erase(one);
    }
    for (auto& [number, one] : sessions_) {
      if (one.of != of) continue;
      tell(one, share_reply::status::freed);
      // The thread sees the end of the connection and drops the session.
      ::shutdown(one.socket.get(), SHUT_RDWR);
      try {
        holders += fmt::format("{}{}", holders.empty() ? "" : ", ", one.pid);
      } catch (const std::bad_alloc&) {
        // The line of the log names fewer processes.
      }
    }
  }
  try {
    if (!holders.empty())
      log_.info("{} is freed here while other processes have it open ({}): it lives until they close it", last->text(),
                holders);
  } catch (const std::bad_alloc&) {
    // No memory for a line of the log.
  }
}

std::string exporter::listing() const {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  const auto now = std::chrono::system_clock::now();
  const auto age = [now](std::chrono::system_clock::time_point since) {
    return duration_cast<seconds>(now - since).count();
  };
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [number, one] : exports_) {
    text += fmt::format("process {} exports {}, for {} s\n", self_.pid, one.what->text(), age(one.since));
    for (const auto& [other, importer] : sessions_)
      if (importer.of == number)
        text += fmt::format("  open in process {} of user {}, for {} s\n", importer.pid, importer.owner.uid,
                            age(importer.since));
  }
  return text;
}

}  // namespace pgas::detail
