#include "host/share/exporter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>
#include <new>

#include "common/encode_error.hpp"
#include "common/resource_limits.hpp"
#include "common/step_times.hpp"
#include "common/system_error.hpp"
#include "common/thread.hpp"
#include "common/unique_fd.hpp"
#include "common/value_bytes.hpp"
#include "host/log/format_bytes.hpp"
#include "host/share/exporter_connection.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

namespace {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  std::memcpy(&number, random_bits().data(), sizeof number);
  return number | 1;  // the result must not be 0
}

unix_address new_address(const std::string& directory) {
  return {directory, fmt::format("{}{}-{:016x}", socket_prefix, ::getpid(), random_number())};
}

/// Sets the mode of a socket's file. chmod() is not used: if another user has replaced the file by a link, chmod()
/// would follow the link. *Errors* system, config_value.
void open_to_everyone(const std::string& path) {
  const unique_fd file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) throw_system("open " + path);
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) throw_system("fstat " + path);
  if (!S_ISSOCK(found.st_mode) || found.st_uid != ::geteuid())
    throw error(code::config_value,
                fmt::format("PGAS_SOCKET_DIR: {} is no longer the socket of this process, because other users can "
                            "rename files in that directory: set its sticky bit (chmod +t), or use another directory",
                            path));
  if (::chmod(fmt::format("/proc/self/fd/{}", file.get()).c_str(), 0666) != 0) throw_system("chmod " + path);
}

constexpr int backlog = 4096;
/// The largest number of connections whose handles have not all been sent. A further connection replaces a connection
/// that has sent no request. If all connections have sent a request, the new connection waits in the listener's queue.
constexpr std::size_t max_pending = 256;
constexpr milliseconds pause{50};
/// The largest size of a list, which has to fit into the socket's queue.
constexpr std::size_t max_listing = std::size_t{64} << 10;
constexpr std::size_t listing_step = 4096;

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

std::string exporter::exported_object::text() const {
  if (kind != ticket_kind::memory) return std::string(name_of(kind));
  const sharing_description& described = memory->description();
  return fmt::format("{} of {} memory{}", format_bytes(described.bytes),
                     described.way == sharing_way::memory_file ? "host" : "GPU",
                     described.read_only != 0 || read_only ? ", read-only" : "");
}

std::uint64_t exporter::add(std::shared_ptr<const exportable_memory> memory, ticket_kind kind) {
  const std::lock_guard lock(mutex_);
  exports_.emplace(next_, export_record{{std::move(memory), kind}, std::chrono::system_clock::now()});
  return next_++;
}

std::string exporter::make_ticket(std::uint64_t id, const ticket_options& options, blob payload,
                                  std::uint64_t carried) {
  if (!(options.lifetime.count() >= 0) || options.opens < 0)
    throw error(code::invalid_argument,
                fmt::format("a ticket that lives {} seconds and can be opened {} times: neither may be negative",
                            options.lifetime.count(), options.opens));
  // The limit is ten years. A longer time could overflow a clock.
  const auto lifetime = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<std::chrono::duration<double>>(options.lifetime, std::chrono::hours(24 * 3650)));
  ticket result;
  result.id = random_number();
  result.secret = random_bits();
  result.exporter = self_;
  if (lifetime.count() > 0) {
    const auto until = std::chrono::system_clock::now() + lifetime;
    result.expires = std::chrono::ceil<std::chrono::milliseconds>(until.time_since_epoch()).count();
  }
  result.opens = options.opens;
  result.user = options.user.value_or(self_.uid);
  result.payload = std::move(payload);
  result.description = options.description;
  const bool read_only = options.importers == access::read_only;
  ticket_record record{id, carried, {}, std::nullopt, options.opens, 0, result.user, read_only};
  if (lifetime.count() > 0) record.expires = clock::now() + lifetime;
  const std::lock_guard lock(mutex_);
  result.kind = exports_.at(id).what.kind;
  std::string text = encode(result);
  record.key = decode(text).key;
  // For a ticket of another user, the mode of the socket's file must allow all users to connect. The exporter then
  // checks their credentials.
  if (result.user != self_.uid && self_.socket[0] != '@') open_to_everyone(self_.socket);
  std::erase_if(tickets_,
                [](const auto& entry) { return entry.second.expires && *entry.second.expires < clock::now(); });
  tickets_.emplace(result.id, record);
  return text;
}

void exporter::revoke(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(tickets_, [id](const auto& entry) { return entry.second.object == id || entry.second.carried == id; });
  for (auto& [number, importer] : sessions_) {
    if (importer.object != id || importer.revoked) continue;
    importer.revoked = true;
    if (!importer.sending) tell(importer, share_reply::status::revoked);
  }
}

std::vector<opener> exporter::opened_by(std::uint64_t id) const {
  std::vector<opener> openers;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, importer] : sessions_) {
    if (importer.object != id) continue;
    const auto known =
        std::ranges::find(openers, importer.pid, &opener::pid);  // a process can have opened several tickets
    if (known == openers.end())
      openers.push_back({importer.pid, importer.owner.uid, importer.since});
    else
      known->since = std::min(known->since, importer.since);
  }
  return openers;
}

void exporter::remove(std::uint64_t id) noexcept {
  exported_object last;  // destroyed after the lock is released
  std::string holders;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(tickets_, [id](const auto& entry) { return entry.second.object == id; });
    if (const auto item = exports_.find(id); item != exports_.end()) {
      last = std::move(item->second.what);
      exports_.erase(item);
    }
    for (auto& [number, importer] : sessions_) {
      if (importer.object != id) continue;
      tell(importer, share_reply::status::freed);
      // The exporter's thread detects the end of the connection and drops the session.
      ::shutdown(importer.socket.get(), SHUT_RDWR);
      try {
        holders += fmt::format("{}{}", holders.empty() ? "" : ", ", importer.pid);
      } catch (const std::bad_alloc&) {
        // If the list cannot be allocated, the log line names fewer processes.
      }
    }
  }
  try {
    if (!holders.empty())
      log_.info("{} is freed while other processes have it open ({}): the memory is released when they close it",
                last.text(), holders);
  } catch (const std::bad_alloc&) {
    // The log line could not be allocated.
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
  for (const auto& [number, exported] : exports_) {
    text += fmt::format("process {} exports {}, for {} s\n", self_.pid, exported.what.text(), age(exported.since));
    for (const auto& [other, importer] : sessions_)
      if (importer.object == number)
        text += fmt::format("  open in process {} of user {}, for {} s\n", importer.pid, importer.owner.uid,
                            age(importer.since));
  }
  return text;
}

// ---- the exporter's thread: connections of importers, from accept() to their end

void exporter::serve() {
  while (!stop_) {
    try {
      std::optional<clock::time_point> wake;
      if (pending_ > 0) {
        for (const auto& [number, importer] : sessions_)
          if (importer.deadline && (!wake || *importer.deadline < *wake)) wake = importer.deadline;
      }
      loop_.run_once(wake);
      drop_late();
    } catch (const std::exception& why) {
      log_.error("answering importers of shared memory: {}", why.what());
      std::this_thread::sleep_for(pause);  // the error can occur again immediately
    }
  }
  const std::lock_guard lock(mutex_);
  sessions_.clear();
}

void exporter::accept() {
  // Limited, so that existing connections are served during a burst of new connections.
  for (std::size_t i = 0; i < max_pending; ++i) {
    if (pending_ >= max_pending && !drop_silent()) return loop_.pause(listener_.fd(), pause);
    connect_result next = listener_.accept();
    if (!next.fd) {
      if (next.error != 0) turn_away(next.error);
      return;
    }
    const std::optional<socket_owner> owner = peer_credentials(next.fd.get());
    if (!owner || !expects(owner->uid)) {
      refuse(next.fd.get(), code::authentication,
             fmt::format("{} shares nothing with user {}: name the user when making the ticket", name_of(self_),
                         owner ? static_cast<std::int64_t>(owner->uid) : -1));
      continue;
    }
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = next_++;
      session& item = sessions_[number];
      item.socket = unforked_fd(std::move(next.fd));
      item.owner = *owner;
      item.pid = owner->pid;
      item.deadline = clock::now() + request_timeout;
      ++pending_;
      if (sessions_.size() % 64 == 0) allow_descriptors_for(static_cast<int>(sessions_.size()));
      loop_.watch(item.socket.get(), POLLIN, [this, number](short) { receive(number); });
    }
    receive(number);  // the request has usually arrived with the connection
  }
}

bool exporter::drop_silent() {
  std::map<pid_t, std::size_t> silent;  // the number of connections without a request, by process
  const auto is_silent = [](const session& item) { return item.deadline && item.object == 0; };
  for (const auto& [number, importer] : sessions_)
    if (is_silent(importer)) ++silent[importer.owner.pid];
  if (silent.empty()) return false;
  const pid_t most = std::ranges::max_element(silent, {}, [](const auto& entry) { return entry.second; })->first;
  const auto oldest = std::ranges::find_if(
      sessions_, [&](const auto& entry) { return is_silent(entry.second) && entry.second.owner.pid == most; });
  drop(oldest);
  return true;
}

void exporter::turn_away(int why) {
  spare_.reset();
  if (const connect_result next = listener_.accept(); next.fd)
    refuse(next.fd.get(), code::system,
           fmt::format("{} can't take another connection: {}; raise its limit (ulimit -n)", name_of(self_),
                       errno_text(why)));
  spare_ = unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!spare_) loop_.pause(listener_.fd(), pause);
}

bool exporter::expects(uid_t user) const {
  if (user == self_.uid || user == 0) return true;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, record] : tickets_)
    if (record.user == user) return true;
  return false;
}

void exporter::receive(std::uint64_t number) {
  const auto at = sessions_.find(number);
  if (at == sessions_.end()) return;
  session& from = at->second;
  share_request request;
  // Immediately closes the descriptors that an unknown process has sent.
  const received_packet packet = receive_packet(from.socket.get(), writable_bytes_of(request));
  if (packet.what == received_packet::status::nothing_yet) {
    if (from.sending) go_on(at, nullptr, {});
    return;
  }
  const bool first = from.object == 0;
  if (packet.what != received_packet::status::complete || !first) return drop(at);
  if (packet.bytes.size() != sizeof request || request.magic != share_request::expected_magic) return drop(at);
  if (request.version != share_request::current_version) {
    refuse(from.socket.get(), code::version_mismatch,
           fmt::format("{} has another version of pgas: use the same on both sides", name_of(self_)));
    return drop(at);
  }
  answer(at, request);
}

void exporter::answer(sessions::iterator at, const share_request& request) {
  session& to = at->second;
  if (request.what == share_request::kind::list) {
    list(to);
    return drop(at);
  }
  std::optional<step_times> times;
  if (log_.enabled(log_level::debug)) times.emplace();
  const pid_t asking = to.pid != 0 ? to.pid : request.pid;
  bits128 secret;
  try {
    admit(to, request, secret);
  } catch (const error& why) {
    refuse(to.socket.get(), why.code(), text_of(why));
    return drop(at);
  }
  step_times::lap("admit");
  go_on(at, &request, secret);
  if (times) log_.debug("answering process {}: {}", asking, times->text());
}

void exporter::go_on(sessions::iterator at, const share_request* request, const bits128& secret) {
  try {
    if (send_more(at->second, request, secret)) return;
  } catch (const error& why) {
    refuse(at->second.socket.get(), why.code(), text_of(why));
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto item = tickets_.find(at->second.ticket); item != tickets_.end()) --item->second.opened;
  }
  drop(at);
}

void exporter::admit(session& from, const share_request& request, bits128& secret) {
  const std::lock_guard lock(mutex_);
  const auto known = tickets_.find(request.ticket);
  // An unknown ticket and a wrong code have the same error, so that a process cannot find out which tickets exist.
  const bool wants_timeline = request.what == share_request::kind::timeline;
  if ((request.what != share_request::kind::open && !wants_timeline) || known == tickets_.end() ||
      !same_bits(request.code, code_of(known->second.key, request)))
    throw error(code::authentication, fmt::format("{} does not know the ticket: it was revoked, has expired, or was "
                                                  "made by another process; ask for a new one",
                                                  name_of(self_)));
  ticket_record& record = known->second;
  if (from.owner.uid != record.user)
    throw error(code::authentication,
                fmt::format("the ticket is for processes of user {}, and this one is of user {}: ask {} for one that "
                            "names this user",
                            record.user, from.owner.uid, name_of(self_)));
  if (record.expires && clock::now() >= *record.expires)
    throw error(code::authentication, fmt::format("the ticket has expired: ask {} for a new one", name_of(self_)));
  if (wants_timeline) {
    from.object = carried_for(from, request, record);
  } else if (record.opens > 0 && record.opened >= record.opens) {
    throw error(code::authentication, fmt::format("the ticket was opened {} times, its limit: ask {} for a new one",
                                                  record.opened, name_of(self_)));
  } else {
    ++record.opened;
    from.object = record.object;
    from.ticket = request.ticket;
  }
  secret = record.key;
  from.since = std::chrono::system_clock::now();
  if (from.pid == 0) from.pid = request.pid;
  from.sending = exports_.at(from.object).what;
  from.sending->read_only = record.read_only && !wants_timeline;
}

std::uint64_t exporter::carried_for(const session& from, const share_request& request, const ticket_record& by) {
  // The process has already been counted as an importer of the memory. Now it also gets the timeline.
  bool has_opened = false;
  for (const auto& [number, other] : sessions_)
    has_opened = has_opened || (other.ticket == request.ticket && other.owner.pid == from.owner.pid);
  if (!has_opened)
    throw error(
        code::authentication,
        fmt::format("{} gives a timeline only to processes that have opened its memory: open the ticket of the memory",
                    name_of(self_)));
  if (by.carried == 0 || !exports_.contains(by.carried))
    throw error(
        code::authentication,
        fmt::format("{} has destroyed the timeline that the ticket carries: ask it for a new one", name_of(self_)));
  return by.carried;
}

bool exporter::send_more(session& to, const share_request* request, const bits128& secret) {
  const exported_object& object = *to.sending;
  const std::size_t all = object.memory->pieces();
  // The mutex is locked before the last packet is sent: when the receiver calls revoke(), the session must be complete.
  std::unique_lock lock(mutex_, std::defer_lock);
  do {
    share_reply head;
    head.what = request != nullptr ? share_reply::status::granted : share_reply::status::more;
    head.handles = static_cast<std::uint32_t>(all);
    blob body;
    if (request != nullptr) {
      sharing_description described = object.memory->description();
      if (object.read_only) described.read_only = 1;
      append(body, described);
      head.description = static_cast<std::uint32_t>(body.size());
    }
    std::vector<unique_fd> owned;
    std::vector<int> fds;
    const std::size_t until = std::min(all, to.sent + handles_per_packet);
    for (std::size_t i = to.sent; i < until; ++i) {
      shared_piece piece = object.read_only ? object.memory->read_only_piece(i) : object.memory->piece(i);
      share_handle handle;
      handle.bytes = piece.bytes;
      handle.kind = static_cast<std::uint8_t>(piece.handle.kind);
      handle.foreign = piece.handle.foreign ? 1 : 0;
      handle.has_fd = piece.handle.fd ? 1 : 0;
      handle.data = piece.handle.bytes;
      append(body, handle);
      if (!piece.handle.fd) continue;
      fds.push_back(piece.handle.fd.get());
      owned.push_back(std::move(piece.handle.fd));
    }
    step_times::lap("export");
    head.bytes = static_cast<std::uint32_t>(body.size());
    blob packet;
    append(packet, head);
    packet.insert(packet.end(), body.begin(), body.end());
    if (request != nullptr) {
      const bits128 code = code_of(secret, *request, packet);
      std::memcpy(packet.data() + offsetof(share_reply, code), code.data(), sizeof code);
    }
    if (until == all) lock.lock();
    const int failed = send_packet(to.socket.get(), packet, {}, fds);
    if (failed == EAGAIN && request == nullptr) {
      loop_.change(to.socket.get(), POLLIN | POLLOUT);
      return true;
    }
    if (failed != 0) return false;
    step_times::lap("send");
    to.sent = until;
    request = nullptr;
  } while (to.sent < all);
  loop_.change(to.socket.get(), POLLIN);
  log_.debug("process {} has opened {}", to.pid, object.text());
  to.sending.reset();
  to.deadline.reset();
  --pending_;
  if (to.revoked) tell(to, share_reply::status::revoked);
  return true;
}

void exporter::list(const session& to) {
  if (to.owner.uid != self_.uid && to.owner.uid != 0) {
    refuse(to.socket.get(), code::authentication,
           fmt::format("{} shows what it shares to user {} and to root only", name_of(self_), self_.uid));
    return;
  }
  std::string text = listing();
  if (text.size() > max_listing) text.replace(max_listing, text.npos, "\n... and more\n");
  std::string_view rest = text;
  do {
    const std::string_view part = rest.substr(0, listing_step);
    rest.remove_prefix(part.size());
    share_reply head;
    head.what = rest.empty() ? share_reply::status::listed : share_reply::status::more;
    head.bytes = static_cast<std::uint32_t>(part.size());
    if (send_packet(to.socket.get(), bytes_of(head), std::as_bytes(std::span(part)), {}) != 0) return;
  } while (!rest.empty());
}

void exporter::refuse(int socket, code why, std::string_view text) noexcept {
  const std::string_view cut = text.substr(0, max_description);
  share_reply head;
  head.what = share_reply::status::refused;
  head.error = static_cast<std::int32_t>(why);
  head.bytes = static_cast<std::uint32_t>(cut.size());
  static_cast<void>(send_packet(socket, bytes_of(head), std::as_bytes(std::span(cut)), {}));
}

void exporter::tell(const session& to, share_reply::status what) noexcept {
  share_reply note;
  note.what = what;
  // The queue is never full: an importer gets at most two such messages, for the revocation and for the release of the
  // memory.
  static_cast<void>(send_packet(to.socket.get(), bytes_of(note), {}, {}));
}

void exporter::drop(sessions::iterator at) {
  loop_.forget(at->second.socket.get());
  const std::lock_guard lock(mutex_);
  if (at->second.deadline) --pending_;
  if (at->second.object != 0) log_.debug("process {} has closed its memory or timeline, or has ended", at->second.pid);
  sessions_.erase(at);
}

void exporter::drop_late() {
  if (pending_ == 0) return;
  const clock::time_point now = clock::now();
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const auto item = at++;
    if (item->second.deadline && now >= *item->second.deadline) drop(item);
  }
}

}  // namespace pgas::detail
