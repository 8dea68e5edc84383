#include "host/exchange/exchange_service.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/join_step_hook.hpp"
#include "common/value_bytes.hpp"
#include "host/exchange/enqueued_counts.hpp"

namespace pgas::detail {

namespace {

/// When a PE is lost, a collective that can still complete may take this long.
constexpr auto drain_timeout = std::chrono::milliseconds(300);
/// The time within which the sockets of the neighbours must accept the messages about a failure.
constexpr auto tell_timeout = std::chrono::milliseconds(300);

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

}  // namespace

exchange_service::exchange_service(event_loop& loop, tree_links& links, const peer_table& peers,
                                   world_failure& failures, const config& settings, log::logger& log)
    : loop_(loop),
      links_(links),
      peers_(peers),
      me_(peers.me),
      failures_(failures),
      log_(log),
      join_timeout_(settings.join_timeout),
      wait_timeout_(settings.wait_timeout) {}

template <class Change>
void exchange_service::update(Change&& change) {
  const std::lock_guard order(sending_);
  group_exchange::messages out;
  {
    const std::lock_guard lock(mutex_);
    change(out);
  }
  for (const outgoing_message& one : out) links_.send(one);
}

void exchange_service::begin_group(control_group::identity id, std::span<const int> members) {
  bool status_due = false;  // true if messages came before the group: the reader must then learn the time of the status
  update([&](group_exchange::messages& out) {
    enqueued_.emplace(id, 0);
    group_exchange& made = groups_.try_emplace(id, id).first->second;
    const bool everyone = members.size() == peers_.hosts.size();  // in any order
    made.set_members(everyone ? links_.layout() : std::make_shared<group_layout>(members, peers_.hosts), me_,
                     clock::now(), out);
    note_progress(made, id);
    status_due = made.next_status().has_value();
  });
  if (status_due) loop_.wake();
}

void exchange_service::end_group(control_group::identity id) noexcept {
  const std::lock_guard lock(mutex_);
  groups_.erase(id);
  enqueued_.erase(id);
}

control_group::identity exchange_service::new_groups(std::uint64_t count) noexcept {
  constexpr int number_bits = 40;  // an identity consists of the number of the PE that makes it, and a count
  return (static_cast<control_group::identity>(me_) + 1) << number_bits | groups_made_.fetch_add(count);
}

exchange_result exchange_service::run(control_group::identity group, collective call, blob mine,
                                      std::span<const int> fds, combiner combine, selector select) {
  failures_.check();
  const stage now = reached_.load(std::memory_order_relaxed);
  if (now == stage::joining) join_step("exchange");
  std::uint64_t sequence = 0;
  group_exchange* under_way = nullptr;  // the address is stable while the group exists
  std::optional<error> wrong;
  update([&](group_exchange::messages& out) {
    if (left_) throw error(code::not_joined, "this world was left; no collective call can be made any more");
    under_way = &groups_.at(group);
    sequence =
        under_way->contribute(call, std::move(mine), fds, std::move(combine), clock::now(), out, std::move(select));
    note_progress(*under_way, group);
    wrong = wrong_call(*under_way, group);
    // This PE leaves and makes no further call. If a member of another group waits for a call of this PE, that is an
    // error.
    if (is_end(call))
      for (const auto& [id, one] : groups_)
        if (!wrong && id != group) wrong = wrong_call(one, id);
  });
  if (wrong) failures_.set(*wrong);
  const std::chrono::milliseconds limit = limit_at(now);
  std::optional<clock::time_point> deadline;
  if (limit.count() > 0) deadline = clock::now() + limit;

  // The reader can still be sending the result and the caller's descriptors to other members. This call must not return
  // before that, because the caller then closes the descriptors and may end the process.
  const auto await_sending = [&](std::unique_lock<std::mutex>& held) {
    held.unlock();
    const std::lock_guard order(sending_);
  };
  std::unique_lock lock(mutex_);
  for (;;) {
    if (under_way->complete(sequence)) {
      exchange_result result = under_way->take(sequence);
      await_sending(lock);
      return result;
    }
    std::optional<clock::time_point> next = deadline;
    if (failures_.failed()) {
      // A PE can have ended because of the result of this collective. In that case the result arrives soon, and the
      // collective completes before the failure is thrown.
      const bool may_complete = failures_.cause().code() == code::peer_lost && !under_way->abandoned(sequence);
      if (!may_complete || clock::now() >= failures_.at() + drain_timeout) {
        under_way->withdraw(sequence);
        await_sending(lock);
        throw error(failures_.cause());
      }
      next = failures_.at() + drain_timeout;
    } else if (deadline && clock::now() >= *deadline) {
      lock.unlock();
      fail_timeout(*under_way, sequence, now);
      lock.lock();
      deadline.reset();  // the callback of an earlier failure can still be running
      continue;
    } else if (const auto status = under_way->next_status()) {
      const clock::time_point now_is = clock::now();
      if (now_is >= *status) loop_.wake();  // the reader sends the status
      const clock::time_point again = std::max(*status, now_is + std::chrono::milliseconds(10));
      next = next ? std::min(*next, again) : again;
    }
    if (next)
      changed_.wait_until(lock, *next);
    else
      changed_.wait(lock);
  }
}

void exchange_service::gather(const control_group& group, std::span<const std::byte> mine, std::span<const int> fds,
                              const control_group::part_handler& take) {
  if (mine.size() > max_contribution)
    throw error(
        code::invalid_argument,
        fmt::format("all_gather: {} bytes, more than the {} that one PE may contribute", mine.size(), max_contribution),
        me_);
  if (fds.size() > max_fds_per_packet)
    throw error(code::invalid_argument,
                fmt::format("all_gather: {} descriptors, more than {}", fds.size(), max_fds_per_packet), me_);
  for (const int fd : fds)
    if (::fcntl(fd, F_GETFD) < 0)
      throw error(code::invalid_argument, fmt::format("all_gather: {} is not an open descriptor", fd), me_);

  const gather_entry head{me_, static_cast<std::uint32_t>(mine.size())};
  const auto head_bytes = bytes_of(head);
  blob value(head_bytes.begin(), head_bytes.end());
  value.insert(value.end(), mine.begin(), mine.end());
  exchange_result all =
      run(group.id(), collective::all_gather, std::move(value), fds,
          [](blob& one, std::span<const std::byte> more) { one.insert(one.end(), more.begin(), more.end()); });

  const auto malformed = [this] {
    return error(code::bootstrap_protocol, fmt::format("PE {} received a malformed all-gather", me_), me_);
  };
  std::vector<int> member_of(static_cast<std::size_t>(peers_.n()), -1);  // indexed by PE; -1: has no part any more
  for (std::size_t i = 0; i < group.members().size(); ++i)
    member_of[static_cast<std::size_t>(group.members()[i])] = static_cast<int>(i);
  std::size_t left = group.members().size();
  for (std::span<const std::byte> rest = all.value; !rest.empty(); --left) {
    gather_entry one{};
    if (!take_value(rest, one) || one.bytes > rest.size() || one.pe < 0 || one.pe >= peers_.n()) throw malformed();
    const int member = std::exchange(member_of[static_cast<std::size_t>(one.pe)], -1);
    if (member < 0) throw malformed();
    contribution descriptors;
    if (const auto sent = all.descriptors.find(one.pe); sent != all.descriptors.end())
      descriptors = std::move(sent->second);
    if (descriptors.fds_lost)
      log_.warn(
          "descriptors from PE {} were lost: a process of this host may open no more files, raise the limit "
          "(ulimit -n)",
          one.pe);
    take(member, rest.first(one.bytes), std::move(descriptors));
    rest = rest.subspan(one.bytes);
  }
  if (left != 0) throw malformed();
}

std::chrono::milliseconds exchange_service::limit_at(stage now) const noexcept {
  if (now == stage::joining) return join_timeout_;
  // The streams of a leaving PE can work for PGAS_JOIN_TIMEOUT. The leaving PE reports the timeout before the other PEs
  // stop waiting.
  return now == stage::leaving && wait_timeout_.count() > 0 ? join_timeout_ + wait_timeout_ : wait_timeout_;
}

std::optional<error> exchange_service::wrong_call(const group_exchange& of, control_group::identity id) const {
  if (const auto& two = of.different_calls()) {
    if (is_end(two->call)) return left_early(two->pe, two->other, name_of(two->other_call));
    if (is_end(two->other_call)) return left_early(two->other, two->pe, name_of(two->call));
    return error(
        code::asymmetric_call,
        fmt::format("{} is in {} while {} is in {}: all PEs must make the same collective calls in the same order",
                    peers_.describe(two->other), name_of(two->other_call), peers_.describe(two->pe),
                    name_of(two->call)),
        two->other);
  }
  if (id == control_group::world) return std::nullopt;
  const auto world = groups_.find(control_group::world);
  if (world == groups_.end()) return std::nullopt;  // a message of a team has arrived before this PE has made its world
  const std::optional<group_exchange::own_wait> mine = world->second.waits();
  const std::optional<group_exchange::expectation> theirs = of.awaits_this_pe();
  if (mine && is_end(mine->call) && theirs) return left_early(me_, theirs->pe, name_of(theirs->call));
  return std::nullopt;
}

void exchange_service::note_progress(const group_exchange& of, control_group::identity id) {
  // All PEs leave. From now on the end of a PE is not a failure, with or without a departure message.
  if (id == control_group::world && of.all_leave()) all_departed_ = true;
  if (const auto at = of.next_status(); at && (!next_status_ || *at < *next_status_)) next_status_ = at;
}

std::string exchange_service::describe() const {
  std::string text;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, pending] : groups_) {
    const std::optional<group_exchange::own_wait> wait = pending.waits();
    if (!wait) continue;
    text += fmt::format(R"({}{{"what":"{}","group":{},"number":{},"ms":{},"missing":[{}]}})", text.empty() ? "" : ",",
                        name_of(wait->call), id, wait->sequence,
                        std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - wait->since).count(),
                        fmt::join(pending.missing(wait->sequence), ","));
  }
  return fmt::format(R"("collectives":[{}])", text);
}

std::vector<long_wait> exchange_service::overdue(std::chrono::milliseconds limit) const {
  std::vector<long_wait> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, pending] : groups_) {
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

error exchange_service::left_early(int leaver, int stayer, std::string_view doing) const {
  return {code::asymmetric_call,
          fmt::format(
              "{} leaves the world while {} is in {}: all PEs must make the same collective calls before they leave",
              peers_.describe(leaver), peers_.describe(stayer), doing),
          leaver};
}

void exchange_service::fail_timeout(const group_exchange& of, std::uint64_t sequence, stage now) {
  std::string names;
  int first = -1;
  {
    const std::lock_guard lock(mutex_);
    if (of.complete(sequence)) return;  // the result has just arrived
    std::vector<int> missing = of.missing(sequence);
    if (missing.size() > 1) std::erase(missing, me_);
    names = peers_.describe(missing);
    if (!missing.empty()) first = missing.front();
  }
  if (first < 0) names = "the result, which other PEs did not pass on";
  const std::string mine = peers_.describe(me_);
  if (now == stage::joining)
    return failures_.set(
        error(code::bootstrap_timeout,
              fmt::format("{} waited {} ms while joining for {}: are those processes stopped, or busy with "
                          "their devices? PGAS_JOIN_TIMEOUT sets how long to wait",
                          mine, join_timeout_.count(), names),
              first));
  failures_.set(
      error(code::wait_timeout,
            now == stage::leaving
                ? fmt::format("all PEs leave the world, and {} waited {} ms for {}: are those processes stopped? "
                              "PGAS_JOIN_TIMEOUT, for work on streams, and PGAS_WAIT_TIMEOUT set the limit together",
                              mine, limit_at(now).count(), names)
                : fmt::format(
                      "{} waited {} ms in a collective call for {}: PGAS_WAIT_TIMEOUT sets the limit, 0 waits for ever",
                      mine, wait_timeout_.count(), names),
            first));
}

void exchange_service::await_leave() {
  static_cast<void>(run(control_group::world, collective::await_leave, own_counts(), {}, merge_counts));
  reached_ = stage::leaving;
}

void exchange_service::leave() {
  static_cast<void>(run(control_group::world, collective::leave, {}, {}, {}));
  {
    const std::lock_guard order(sending_);  // sent before left_ is set, because a thread can then end the process
    links_.send_to_neighbours(message_of(message_kind::departure, me_));
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  failures_.close();
}

bool exchange_service::all_departed() const {
  const std::lock_guard lock(mutex_);
  return all_departed_;
}

void exchange_service::receive(arrived_message message) {
  std::optional<error> wrong;
  update([&](group_exchange::messages& out) {
    const control_group::identity id = message.header.group;
    group_exchange& under_way = groups_.try_emplace(id, id).first->second;
    under_way.receive(std::move(message), clock::now(), out);
    note_progress(under_way, id);
    wrong = wrong_call(under_way, id);
  });
  if (wrong) failures_.set(*wrong);
  changed_.notify_all();
}

void exchange_service::send_statuses() {
  update([&](group_exchange::messages& out) {
    const clock::time_point now = clock::now();
    if (!next_status_ || now < *next_status_) return;
    next_status_.reset();
    for (auto& [id, one] : groups_) {
      one.send_status(now, out);
      note_progress(one, id);
    }
  });
}

std::optional<clock::time_point> exchange_service::next_wake() const {
  const std::lock_guard lock(mutex_);
  std::optional<clock::time_point> next = next_status_;
  if (failures_.is_set()) return next;
  for (const device_collective* const each : on_devices_)
    if (each->leaves_since_ && (!next || *each->leaves_since_ + join_timeout_ < *next))
      next = *each->leaves_since_ + join_timeout_;
  return next;
}

void exchange_service::tell_neighbours(const error& cause) {
  {
    const std::lock_guard order(sending_);
    links_.send_to_neighbours(message_of(message_kind::failure, me_, all_pes, encode_error(cause)));
  }
  if (cause.code() == code::peer_lost && cause.pe() >= 0)
    update([&](group_exchange::messages& out) {
      for (auto& [id, one] : groups_) one.lose(cause.pe(), out);
    });
  static_cast<void>(links_.await_sent(deadline(tell_timeout)));
}

void exchange_service::wake() {
  {
    const std::lock_guard lock(mutex_);  // ensures that a thread that has not begun to wait detects the failure
  }
  changed_.notify_all();
}

void exchange_service::send(const outgoing_message& message) {
  const std::lock_guard order(sending_);
  links_.send(message);
}

void exchange_service::count_enqueued(control_group::identity group, bool captured) {
  const std::lock_guard lock(mutex_);
  std::optional<std::uint64_t>& count = enqueued_.at(group);
  if (captured)
    count.reset();
  else if (count)
    ++*count;
}

void exchange_service::add(device_collective& one) {
  bool leaves = false;
  {
    const std::lock_guard lock(mutex_);
    if (const std::optional<std::uint64_t> before = enqueued_.at(one.group_)) one.number_ = *before + 1;
    on_devices_.push_back(&one);
    leaves = one.missing(groups_, me_).has_value();
  }
  if (leaves) loop_.wake();
}

void exchange_service::remove(device_collective& one) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(on_devices_, &one);
}

blob exchange_service::own_counts() const {
  std::vector<enqueued_count> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [group, count] : enqueued_)
    all.push_back(count ? enqueued_count{.group = group, .lowest = *count, .lowest_pe = me_}
                        : enqueued_count{.group = group, .unknown_pe = me_});
  return encode_counts(all);
}

void exchange_service::check_leavers() {
  std::optional<error> found;
  {
    const std::lock_guard lock(mutex_);
    if (failures_.is_set()) return;
    const clock::time_point now = clock::now();
    for (device_collective* const each : on_devices_) {
      const std::optional<device_collective::missing_member> missing = each->missing(groups_, me_);
      if (!missing) {
        each->leaves_since_.reset();
        continue;
      }
      if (!each->leaves_since_) each->leaves_since_ = now;
      if (missing->certain || now >= *each->leaves_since_ + join_timeout_)
        found = left_early(missing->pe, me_, each->name_);
    }
  }
  if (found) failures_.set(*found);
}

}  // namespace pgas::detail
