// Collectives of the control plane. A PE adds its contribution to the exchange of the group and waits for the result.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "common/join_step_hook.hpp"
#include "common/net/socket.hpp"
#include "host/control/control_plane_state.hpp"
#include "host/control/enqueued_counts.hpp"

namespace pgas::detail {

namespace {

/// The time limit after the loss of a PE for a collective that can still complete.
constexpr auto drain_timeout = std::chrono::milliseconds(300);

const char* name_of(collective call) {
  switch (call) {
    case collective::all_gather: return "an exchange";
    case collective::reduce: return "an agreement";
    case collective::barrier: return "a barrier";
    case collective::leave:
    case collective::await_leave: return "leave";
    case collective::none: break;
  }
  return "nothing";
}

/// The head of a PE's bytes in the value of an all-gather.
struct gather_entry {
  std::int32_t pe;
  std::uint32_t bytes;
};

/// The names of the PEs for a message. A long list is cut.
std::string names_of(const control_plane_state& plane, const std::vector<int>& pes) {
  constexpr std::size_t most = 16;
  std::string names;
  for (std::size_t i = 0; i < std::min(pes.size(), most); ++i) names += (i == 0 ? "" : ", ") + plane.describe(pes[i]);
  return pes.size() > most ? names + fmt::format(" and {} more", pes.size() - most) : names;
}

}  // namespace

exchange_result control_plane_state::run(control_group::identity group, collective call, blob mine,
                                         std::span<const int> fds, combiner combine) {
  check();
  const stage now = reached.load(std::memory_order_relaxed);
  if (now == stage::joining) join_step("exchange");
  std::uint64_t sequence = 0;
  group_exchange* under_way = nullptr;  // the address is stable while the group exists
  std::optional<error> wrong;
  {
    const std::lock_guard order(sending);
    group_exchange::messages out;
    {
      const std::lock_guard lock(mutex);
      if (left) throw error(code::not_joined, "this world was left; no collective call can be made any more");
      under_way = &groups.at(group);
      sequence = under_way->contribute(call, std::move(mine), fds, std::move(combine), clock::now(), out);
      note_progress(*under_way, group);
      wrong = wrong_call(*under_way, group);
      // Members of other groups may wait for this PE, which leaves and makes no further call.
      if (is_end(call))
        for (const auto& [id, one] : groups)
          if (!wrong && id != group) wrong = wrong_call(one, id);
    }
    deliver(out);
  }
  if (wrong) set_failure(*wrong, origin::here);
  const std::chrono::milliseconds limit = limit_at(now);
  std::optional<clock::time_point> deadline;
  if (limit.count() > 0) deadline = clock::now() + limit;

  // The reader may still be sending the caller's descriptors. The caller closes the descriptors after the call.
  const auto await_sending = [&](std::unique_lock<std::mutex>& held) {
    held.unlock();
    if (!fds.empty()) const std::lock_guard order(sending);
  };
  std::unique_lock lock(mutex);
  for (;;) {
    if (under_way->complete(sequence)) {
      exchange_result result = under_way->take(sequence);
      await_sending(lock);
      return result;
    }
    std::optional<clock::time_point> next = deadline;
    if (failed) {
      if (cannot_complete(*under_way, sequence) || clock::now() >= failed_at + drain_timeout) {
        under_way->withdraw(sequence);
        const error cause = *failure;
        await_sending(lock);
        throw error(cause);
      }
      next = failed_at + drain_timeout;
    } else if (deadline && clock::now() >= *deadline) {
      lock.unlock();
      fail_timeout(*under_way, sequence, now);
      lock.lock();
      deadline.reset();  // the callback of an earlier failure may still be running
      continue;
    } else if (const auto status = under_way->next_status()) {
      const clock::time_point now_is = clock::now();
      if (now_is >= *status) loop->wake();  // the reader sends the status
      const clock::time_point again = std::max(*status, now_is + std::chrono::milliseconds(10));
      next = next ? std::min(*next, again) : again;
    }
    if (next)
      changed.wait_until(lock, *next);
    else
      changed.wait(lock);
  }
}

std::vector<contribution> control_plane_state::gather(const control_group& group, std::span<const std::byte> mine,
                                                      std::span<const int> fds) {
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

  const gather_entry head{me, static_cast<std::uint32_t>(mine.size())};
  const auto head_bytes = bytes_of(head);
  blob value(head_bytes.begin(), head_bytes.end());
  value.insert(value.end(), mine.begin(), mine.end());
  exchange_result all =
      run(group.id(), collective::all_gather, std::move(value), fds,
          [](blob& one, std::span<const std::byte> more) { one.insert(one.end(), more.begin(), more.end()); });

  std::unordered_map<int, std::size_t> index_of;
  for (std::size_t i = 0; i < group.members().size(); ++i) index_of.emplace(group.members()[i], i);
  std::vector<contribution> result(index_of.size());
  std::size_t found = 0;
  for (std::span<const std::byte> rest = all.value; !rest.empty(); ++found) {
    gather_entry one{};
    const bool whole = rest.size() >= sizeof(one);
    if (whole) std::memcpy(&one, rest.data(), sizeof(one));
    const auto member = index_of.find(one.pe);
    if (!whole || one.bytes > rest.size() - sizeof(one) || member == index_of.end())
      throw error(code::bootstrap_protocol, fmt::format("PE {} received a malformed all-gather", me), me);
    const auto bytes = rest.subspan(sizeof(one), one.bytes);
    result[member->second].bytes.assign(bytes.begin(), bytes.end());
    rest = rest.subspan(sizeof(one) + one.bytes);
  }
  if (found != result.size())
    throw error(code::bootstrap_protocol, fmt::format("PE {} received an incomplete all-gather", me), me);
  for (auto& [pe, theirs] : all.descriptors) {
    const auto member = index_of.find(pe);
    if (member == index_of.end()) continue;
    result[member->second].fds = std::move(theirs.fds);
    result[member->second].fds_lost = theirs.lost;
    if (theirs.lost)
      log.warn(
          "descriptors from PE {} were lost: a process of this host may open no more files, raise the limit "
          "(ulimit -n)",
          pe);
  }
  return result;
}

std::chrono::milliseconds control_plane_state::limit_at(stage now) const noexcept {
  if (now == stage::joining) return join_timeout;
  // The streams of a leaving PE may work for PGAS_JOIN_TIMEOUT. That PE reports the timeout before the other PEs stop
  // waiting.
  return now == stage::leaving && wait_timeout.count() > 0 ? join_timeout + wait_timeout : wait_timeout;
}

std::optional<error> control_plane_state::wrong_call(const group_exchange& of, control_group::identity id) const {
  if (const auto& two = of.different_calls()) {
    if (is_end(two->call)) return left_early(two->pe, two->other, name_of(two->other_call));
    if (is_end(two->other_call)) return left_early(two->other, two->pe, name_of(two->call));
    return error(
        code::asymmetric_call,
        fmt::format("{} is in {} while {} is in {}: all PEs must make the same collective calls in the same order",
                    describe(two->other), name_of(two->other_call), describe(two->pe), name_of(two->call)),
        two->other);
  }
  if (id == control_group::world) return std::nullopt;
  const auto world = groups.find(control_group::world);
  if (world == groups.end()) return std::nullopt;  // a message of a team has arrived before this PE has made its world
  const std::optional<group_exchange::own_wait> mine = world->second.waits();
  const std::optional<group_exchange::expectation> theirs = of.awaits_this_pe();
  if (mine && is_end(mine->call) && theirs) return left_early(me, theirs->pe, name_of(theirs->call));
  return std::nullopt;
}

void control_plane_state::note_progress(const group_exchange& of, control_group::identity id) {
  // All PEs leave. From now on the end of a PE is not a failure, with or without a departure message.
  if (id == control_group::world && of.all_leave()) all_departed = true;
  if (const auto at = of.next_status(); at && (!next_status || *at < *next_status)) next_status = at;
}

bool control_plane_state::cannot_complete(const group_exchange& of, std::uint64_t sequence) const {
  // A PE may have ended because of the result of this collective. Then the result arrives soon, and the collective
  // completes before the failure is thrown.
  return failure->code() != code::peer_lost || of.abandoned(sequence);
}

std::string control_plane_state::describe_collectives() const {
  std::string text;
  const std::lock_guard lock(mutex);
  for (const auto& [id, pending] : groups) {
    const std::optional<group_exchange::own_wait> wait = pending.waits();
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
    const std::optional<group_exchange::own_wait> wait = pending.waits();
    if (!wait) continue;
    const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - wait->since);
    if (lasted < limit) continue;
    found.push_back({lasted, fmt::format("{} has waited {:.1f} s for PE {}", name_of(wait->call),
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

void control_plane_state::fail_timeout(const group_exchange& of, std::uint64_t sequence, stage now) {
  std::string names;
  int first = -1;
  {
    const std::lock_guard lock(mutex);
    if (of.complete(sequence)) return;  // the result has just arrived
    std::vector<int> missing = of.missing(sequence);
    if (missing.size() > 1) std::erase(missing, me);
    names = names_of(*this, missing);
    if (!missing.empty()) first = missing.front();
  }
  if (first < 0) names = "the result, which other PEs did not pass on";
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
  static_cast<void>(run(control_group::world, collective::await_leave, own_counts(), {}, merge_counts));
  reached = stage::leaving;
}

void control_plane_state::leave() {
  static_cast<void>(run(control_group::world, collective::leave, {}, {}, {}));
  {
    const std::lock_guard lock(mutex);
    left = true;
  }
  links->send_to_neighbours(message_of(message_kind::departure, me));
  stop_reader();
}

}  // namespace pgas::detail
