// Collectives of the control plane: each member sends its contribution to all others and waits for theirs.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/join_step_hook.hpp"
#include "host/control/control_plane_state.hpp"
#include "host/control/pending_collectives.hpp"

namespace pgas::detail {

void pending_collectives::check_member(int pe) const {
  if (!members_.empty() && std::find(members_.begin(), members_.end(), pe) == members_.end())
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} contributed to a collective of a team that it is not in", pe), pe);
}

void pending_collectives::set_members(std::span<const int> members) {
  members_.assign(members.begin(), members.end());
  for (const auto& [sequence, contributions] : pending_)
    for (const auto& [pe, content] : contributions) check_member(pe);
}

void pending_collectives::add(std::uint64_t sequence, int pe, collective call, contribution content) {
  check_member(pe);
  if (call == collective::none || sequence < first_ || sequence - first_ > max_ahead)
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} sent a contribution to collective {}, while collective {} is under way", pe,
                            sequence, first_),
                pe);
  if (!pending_[sequence].try_emplace(pe, entry{call, std::move(content)}).second)
    throw error(code::bootstrap_protocol, fmt::format("PE {} contributed twice to collective {}", pe, sequence), pe);
}

bool pending_collectives::complete(std::uint64_t sequence) const {
  const auto found = pending_.find(sequence);
  return found != pending_.end() && !members_.empty() && found->second.size() == members_.size();
}

std::optional<pending_collectives::mismatch> pending_collectives::find_mismatch(std::uint64_t sequence,
                                                                                collective call) const {
  const auto found = pending_.find(sequence);
  if (found == pending_.end()) return std::nullopt;
  for (const auto& [pe, theirs] : found->second)
    if (theirs.call != call) return mismatch{pe, theirs.call};
  return std::nullopt;
}

bool pending_collectives::all_leave(std::uint64_t sequence) const {
  return complete(sequence) && !find_mismatch(sequence, collective::leave);
}

const contribution* pending_collectives::end_of(int pe) const {
  for (const auto& [sequence, contributions] : pending_) {
    const auto found = contributions.find(pe);
    if (found != contributions.end() && is_end(found->second.call)) return &found->second.content;
  }
  return nullptr;
}

std::optional<pending_collectives::own_wait> pending_collectives::wait_of(int me) const {
  if (next_ == first_ || complete(first_)) return std::nullopt;
  const auto found = pending_.find(first_);
  const auto mine = found == pending_.end() ? entries::const_iterator() : found->second.find(me);
  if (found == pending_.end() || mine == found->second.end()) return std::nullopt;
  return own_wait{first_, mine->second.call, began_};
}

std::vector<int> pending_collectives::missing(std::uint64_t sequence) const {
  std::vector<int> result;
  const auto found = pending_.find(sequence);
  for (const int pe : members_)
    if (found == pending_.end() || !found->second.contains(pe)) result.push_back(pe);
  return result;
}

std::vector<contribution> pending_collectives::take(std::uint64_t sequence) {
  std::vector<contribution> result;
  entries& contributions = pending_.at(sequence);
  for (const int pe : members_) result.push_back(std::move(contributions.at(pe).content));
  pending_.erase(sequence);
  first_ = sequence + 1;
  return result;
}

namespace {

/// Time limit after the loss of a PE for a collective that can still be completed.
constexpr auto drain_timeout = std::chrono::milliseconds(300);

const char* name_of(collective call) {
  switch (call) {
    case collective::all_gather: return "an exchange";
    case collective::barrier: return "a barrier";
    case collective::leave:
    case collective::await_leave: return "leave";
    case collective::none: break;
  }
  return "nothing";
}

}  // namespace

std::vector<contribution> control_plane_state::gather(control_group::identity group, collective call,
                                                      std::span<const std::byte> mine, std::span<const int> fds) {
  check();
  if (mine.size() > max_contribution)
    throw error(
        code::invalid_argument,
        fmt::format("all_gather: {} bytes, more than the {} that one PE may contribute", mine.size(), max_contribution),
        me);
  if (fds.size() > max_fds_per_packet)
    throw error(code::invalid_argument,
                fmt::format("all_gather: {} descriptors, more than {}", fds.size(), max_fds_per_packet), me);
  for (const int fd : fds)
    if (::fcntl(fd, F_GETFD) < 0)
      throw error(code::invalid_argument, fmt::format("all_gather: {} is not an open descriptor", fd), me);

  std::uint64_t sequence = 0;
  pending_collectives* under_way = nullptr;  // its address is stable while the group exists
  {
    const std::lock_guard lock(mutex);
    if (left) throw error(code::not_joined, "this world was left; no collective call can be made any more");
    under_way = &groups.at(group);
    sequence = under_way->begin();
    under_way->add(sequence, me, call, {blob(mine.begin(), mine.end()), {}, false});
    // The own contribution may be the last one.
    if (under_way->all_leave(sequence)) departed.assign(departed.size(), true);
  }
  const stage now = reached.load(std::memory_order_relaxed);
  if (now == stage::joining) join_step("exchange");
  const std::chrono::milliseconds limit = limit_at(now);
  std::optional<clock::time_point> deadline;
  if (limit.count() > 0) deadline = clock::now() + limit;
  control_header header;
  header.call = call;
  header.fds = static_cast<std::uint32_t>(fds.size());
  header.group = group;
  header.sequence = sequence;
  header.bytes = mine.size();
  // Each member begins with its successor, so that not all send to the same PE at once.
  const std::span<const int> members = under_way->members();
  const auto own = static_cast<std::size_t>(std::find(members.begin(), members.end(), me) - members.begin());
  for (std::size_t step = 1; step < members.size(); ++step)
    send_contribution(members[(own + step) % members.size()], header, mine, fds, deadline);

  std::unique_lock lock(mutex);
  for (;;) {
    if (find_mismatch(*under_way, sequence, call)) break;
    if (under_way->complete(sequence)) return under_way->take(sequence);
    std::optional<clock::time_point> next = deadline;
    if (failed) {
      if (cannot_complete(*under_way, sequence) || clock::now() >= failed_at + drain_timeout) throw error(*failure);
      next = failed_at + drain_timeout;
    } else if (deadline && clock::now() >= *deadline) {
      lock.unlock();
      fail_timeout(*under_way, sequence, now);
      lock.lock();
      continue;
    }
    if (next)
      changed.wait_until(lock, *next);
    else
      changed.wait(lock);
  }
  const pending_collectives::mismatch other = *find_mismatch(*under_way, sequence, call);
  lock.unlock();
  fail_mismatch(other, call);
  lock.lock();
  changed.wait(lock, [this] { return failed.load(); });  // an earlier failure may still be on its way to the callback
  throw error(*failure);
}

std::chrono::milliseconds control_plane_state::limit_at(stage now) const noexcept {
  if (now == stage::joining) return join_timeout;
  // The streams of a PE may work for PGAS_JOIN_TIMEOUT. That PE says so before the others give it up.
  return now == stage::leaving && wait_timeout.count() > 0 ? join_timeout + wait_timeout : wait_timeout;
}

std::optional<pending_collectives::mismatch> control_plane_state::find_mismatch(const pending_collectives& of,
                                                                                std::uint64_t sequence,
                                                                                collective call) const {
  if (const std::optional<pending_collectives::mismatch> found = of.find_mismatch(sequence, call)) return found;
  // A PE in leave() contributes to nothing else.
  const pending_collectives& of_all = groups.at(control_group::world);
  if (&of != &of_all)
    for (const int pe : of.missing(sequence))
      if (of_all.end_of(pe) != nullptr) return pending_collectives::mismatch{pe, collective::leave};
  return std::nullopt;
}

bool control_plane_state::cannot_complete(const pending_collectives& of, std::uint64_t sequence) const {
  // A PE may have ended because of the result of this very collective. Then all contributions are on their way, and the
  // collective is completed before the failure is thrown.
  if (failure->code() != code::peer_lost) return true;
  const std::vector<int> missing = of.missing(sequence);
  return std::any_of(missing.begin(), missing.end(), [this](int pe) { return ended[static_cast<std::size_t>(pe)]; });
}

void control_plane_state::send_contribution(int pe, const control_header& header, std::span<const std::byte> mine,
                                            std::span<const int> fds, std::optional<clock::time_point> deadline) {
  control_header own = header;
  if (!on_this_host(pe)) {  // descriptors cannot be sent between hosts
    fds = {};
    own.fds = 0;
  }
  // The peer's reader always reads, so a queue stays full only while that process is stopped. In a world that fails now
  // the contribution is still sent: the other PEs may be able to complete the collective.
  const int why = connections[static_cast<std::size_t>(pe)]->send_until(
      std::as_bytes(std::span(&own, 1)), mine, fds,
      [&] { return !failed.load(std::memory_order_acquire) && (!deadline || clock::now() < *deadline); });
  // If the connection is closed, the reader finds out whether the peer had left.
  if (why == 0 || why == EAGAIN || why == EPIPE || why == ECONNRESET) return;
  set_failure(error(code::system,
                    fmt::format("{} could not send to {}: {}{}", describe(me), describe(pe), std::strerror(why),
                                why == ETOOMANYREFS ? "; raise the limit of open files (ulimit -n)" : ""),
                    me),
              origin::here);
}

std::string control_plane_state::describe_collectives() const {
  std::string text;
  const std::lock_guard lock(mutex);
  for (const auto& [id, pending] : groups) {
    const std::optional<pending_collectives::own_wait> wait = pending.wait_of(me);
    if (!wait) continue;
    text += fmt::format(R"({}{{"what":"{}","group":{},"number":{},"ms":{},"missing":[{}]}})", text.empty() ? "" : ",",
                        name_of(wait->call), id, wait->sequence,
                        std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - wait->since).count(),
                        fmt::join(pending.missing(wait->sequence), ","));
  }
  return fmt::format(R"("collectives":[{}])", text);
}

std::vector<long_wait> control_plane_state::overdue_collectives(std::chrono::milliseconds limit) const {
  std::vector<long_wait> found;
  const std::lock_guard lock(mutex);
  for (const auto& [id, pending] : groups) {
    const std::optional<pending_collectives::own_wait> wait = pending.wait_of(me);
    if (!wait) continue;
    const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - wait->since);
    if (lasted < limit) continue;
    found.push_back({lasted, fmt::format("{} waits since {:.1f} s for PE {}", name_of(wait->call),
                                         static_cast<double>(lasted.count()) / 1000.0,
                                         fmt::join(pending.missing(wait->sequence), ", "))});
  }
  return found;
}

error control_plane_state::left_early(int leaver, int stayer, std::string_view doing) const {
  return {code::asymmetric_call,
          fmt::format(
              "{} leaves the world while {} is in {}: all PEs must make the same collective calls before they leave",
              describe(leaver), describe(stayer), doing),
          leaver};
}

void control_plane_state::fail_mismatch(const pending_collectives::mismatch& other, collective call) {
  if (is_end(other.call)) return set_failure(left_early(other.pe, me, name_of(call)), origin::here);
  if (is_end(call)) return set_failure(left_early(me, other.pe, name_of(other.call)), origin::here);
  set_failure(
      error(code::asymmetric_call,
            fmt::format("{} is in {} while {} is in {}: all PEs must make the same collective calls in the same order",
                        describe(other.pe), name_of(other.call), describe(me), name_of(call)),
            other.pe),
      origin::here);
}

void control_plane_state::fail_timeout(const pending_collectives& of, std::uint64_t sequence, stage now) {
  std::string names;
  int first = -1;
  {
    const std::lock_guard lock(mutex);
    for (const int pe : of.missing(sequence)) {
      if (first < 0) first = pe;
      names += (names.empty() ? "" : ", ") + describe(pe);
    }
  }
  if (first < 0) return;  // the last contribution has just arrived
  if (now == stage::joining)
    return set_failure(
        error(code::bootstrap_timeout,
              fmt::format("{} waited {} ms while joining for {}: are those processes stopped, or busy with "
                          "their devices? PGAS_JOIN_TIMEOUT sets how long to wait",
                          describe(me), join_timeout.count(), names),
              first),
        origin::here);
  set_failure(
      error(code::wait_timeout,
            now == stage::leaving
                ? fmt::format("all PEs leave the world, and {} waited {} ms for {}: are those processes stopped? "
                              "PGAS_JOIN_TIMEOUT, for work on streams, and PGAS_WAIT_TIMEOUT set the limit together",
                              describe(me), limit_at(now).count(), names)
                : fmt::format(
                      "{} waited {} ms in a collective call for {}: PGAS_WAIT_TIMEOUT sets the limit, 0 waits for ever",
                      describe(me), wait_timeout.count(), names),
            first),
      origin::here);
}

void control_plane_state::await_leave() {
  static_cast<void>(gather(control_group::world, collective::await_leave, enqueued_counts(), {}));
  reached = stage::leaving;
}

void control_plane_state::leave() {
  static_cast<void>(gather(control_group::world, collective::leave, {}, {}));
  {
    const std::lock_guard lock(mutex);
    left = true;
  }
  // Other PEs may still wait for the last contribution of a third one.
  broadcast(message_kind::departure, {}, std::chrono::milliseconds(500));
  stop_reader();
}

}  // namespace pgas::detail
