#include "host/exchange/group_exchange.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/value_bytes.hpp"
#include "host/exchange/enqueued_counts.hpp"

namespace pgas::detail {

namespace {

/// The time from the start of a collective to its first status. Each later interval is twice as long.
constexpr milliseconds first_pause{50};
constexpr milliseconds longest_pause{1600};
/// A member can be ahead of another member by one collective.
constexpr std::uint64_t max_ahead = 1;
constexpr std::size_t most_early = 1 << 16;

void set(std::vector<std::uint8_t>& bits, std::size_t at) {
  bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | 1u << at % 8);
}
bool test(const std::vector<std::uint8_t>& bits, std::size_t at) {
  return at / 8 < bits.size() && (bits[at / 8] >> at % 8 & 1u) != 0;
}
void add(std::vector<std::uint8_t>& bits, std::span<const std::uint8_t> more) {
  bits.resize(std::max(bits.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) bits[i] = static_cast<std::uint8_t>(bits[i] | more[i]);
}

}  // namespace

blob group_exchange::with_table(const blob& value, std::span<const descriptor_entry> table) {
  blob bytes = value;
  const auto entries = std::as_bytes(table);
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  const auto count = static_cast<std::uint32_t>(table.size());
  const auto end = bytes_of(count);
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

std::optional<std::vector<group_exchange::descriptor_entry>> group_exchange::take_table(blob& bytes) {
  std::uint32_t count = 0;
  if (bytes.size() < sizeof(count)) return std::nullopt;
  std::memcpy(&count, bytes.data() + bytes.size() - sizeof(count), sizeof(count));
  const std::size_t rest = bytes.size() - sizeof(count);
  if (count > rest / sizeof(descriptor_entry)) return std::nullopt;
  std::vector<descriptor_entry> table(count);
  const std::size_t value = rest - count * sizeof(descriptor_entry);
  if (count != 0) std::memcpy(table.data(), bytes.data() + value, count * sizeof(descriptor_entry));
  bytes.resize(value);
  return table;
}

void group_exchange::refuse(const arrived_message& message) const {
  throw error(code::bootstrap_protocol,
              fmt::format("PE {} sent a message on collective {} of group {}, in which PE {} did not expect it",
                          message.header.from, message.header.sequence, id_, me_),
              message.header.from);
}

void group_exchange::set_members(std::shared_ptr<const group_layout> layout, int me, clock::time_point now,
                                 messages& out) {
  layout_ = std::move(layout);
  me_ = me;
  tree_ = group_tree(layout_, me);
  for (arrived_message& one : std::exchange(early_, {})) receive(std::move(one), now, out);
}

void group_exchange::send(message_kind kind, std::uint64_t number, collective call, int to,
                          std::shared_ptr<parcel> content, messages& out, bool of_others) const {
  outgoing_message message;
  message.header.of_others = of_others ? 1 : 0;
  message.header.kind = kind;
  message.header.call = call;
  message.header.group = id_;
  message.header.sequence = number;
  message.header.from = me_;
  message.header.to = to;
  message.content = std::move(content);
  out.push_back(std::move(message));
}

group_exchange::round& group_exchange::at(std::uint64_t sequence, int caller, collective call, clock::time_point now) {
  const auto [found, first] = rounds_.try_emplace(sequence);
  round& one = found->second;
  if (first) {
    one.began = now;
    one.pause = first_pause;
    one.next_status = now + first_pause;
  }
  if (one.caller < 0) {
    one.call = call;
    one.caller = caller;
  } else if (one.call != call && !mismatch_) {
    mismatch_ = mismatch{one.caller, one.call, caller, call};
  }
  return one;
}

std::uint64_t group_exchange::contribute(collective call, blob mine, std::span<const int> fds, combiner combine,
                                         clock::time_point now, messages& out, selector select) {
  const std::uint64_t number = next_++;
  round& one = at(number, me_, call, now);
  one.began = now;
  one.mine = true;
  one.value = std::move(mine);
  one.fds.assign(fds.begin(), fds.end());
  one.combine = std::move(combine);
  one.select = std::move(select);
  advance(number, one, out);
  abandon_lost(out);
  return number;
}

void group_exchange::receive(arrived_message message, clock::time_point now, messages& out) {
  if (members().empty()) {
    if (early_.size() == most_early) refuse(message);
    early_.push_back(std::move(message));
    return;
  }
  switch (message.header.kind) {
    case message_kind::up: return take_up(std::move(message), now, out);
    case message_kind::down: return take_down(std::move(message), now, out);
    case message_kind::status: return take_status(message, now, out);
    case message_kind::abandon: {
      if (message.header.sequence < first_ || message.header.sequence > next_ + max_ahead) return;
      round& one = at(message.header.sequence, message.header.from, message.header.call, now);
      return abandon(message.header.sequence, one, message.header.from, out);
    }
    default: refuse(message);
  }
}

void group_exchange::take_up(arrived_message message, clock::time_point now, messages& out) {
  const control_header& header = message.header;
  const int from = header.from;
  if (header.call == collective::none || header.sequence < first_ || header.sequence > next_ + max_ahead ||
      std::ranges::find(tree_.children(), from) == tree_.children().end())
    refuse(message);
  round& one = at(header.sequence, from, header.call, now);
  const std::uint64_t number = header.sequence;
  if (one.combined || !one.parts.try_emplace(from, std::move(message)).second)
    throw error(code::bootstrap_protocol, fmt::format("PE {} contributed twice to collective {}", from, number), from);
  advance(number, one, out);
}

void group_exchange::combine_parts(round& one) const {
  for (auto& [child, part] : one.parts) {
    if (one.combine && !part.bytes.empty()) one.combine(one.value, part.bytes);
    if (one.select) one.below[child] = std::move(part.bytes);
    part.bytes.clear();
    if (part.header.all_fds != 0 && tree_.on_host_of_this(child)) keep_descriptors(one, child, part);
    part.header.all_fds = 0;
  }
}

void group_exchange::answer_last(std::uint64_t number, round& one, messages& out) {
  // No early answer in an all-gather, because descriptors go to all children at the same time. No early answer with a
  // selector, because it selects the parts of a result from the whole result.
  if (one.call == collective::all_gather || one.select || one.answered >= 0) return;
  one.answered = *std::ranges::find_if(tree_.children(), [&](int child) { return !one.parts.contains(child); });
  combine_parts(one);
  const bool with_data = one.call == collective::reduce;
  send(message_kind::down, number, one.call, one.answered,
       std::make_shared<parcel>(with_data ? with_table(one.value, {}) : blob()), out, true);
}

void group_exchange::advance(std::uint64_t number, round& one, messages& out) {
  if (!one.mine || one.combined || one.given_up || mismatch_) return;
  const bool root = tree_.parent() < 0;
  if (root && one.parts.size() + 1 == tree_.children().size()) return answer_last(number, one, out);
  if (one.parts.size() < tree_.children().size()) return;
  one.combined = true;
  // A leaf sends its descriptors to the leader of its host. The leader sends the descriptors of all PEs of the host to
  // all of these PEs.
  const bool leaf = tree_.parent() >= 0 && tree_.on_host_of_this(tree_.parent());
  if (!leaf && !one.fds.empty()) one.table.push_back({me_, static_cast<std::uint32_t>(one.fds.size())});
  combine_parts(one);
  one.parts.clear();
  if (root) return finish(number, one, std::exchange(one.value, {}), out);
  std::vector<int> fds;
  if (leaf) fds.swap(one.fds);
  // Unless the collective is an all-gather, the value is kept. If the root answers early, this PE combines the answer
  // with the value.
  blob mine = one.call == collective::all_gather ? std::exchange(one.value, {}) : one.value;
  send(message_kind::up, number, one.call, tree_.parent(), std::make_shared<parcel>(std::move(mine), std::move(fds)),
       out);
  if (one.answer) finish_with_others(number, one, out);
}

void group_exchange::finish_with_others(std::uint64_t number, round& one, messages& out) {
  if (one.combine) one.combine(one.value, one.of_others);
  finish(number, one, std::exchange(one.value, {}), out);
}

void group_exchange::keep_descriptors(round& one, int child, arrived_message& part) const {
  contribution theirs{{}, std::move(part.fds), part.fds_lost};
  const auto local = std::ranges::count_if(tree_.children(), [this](int pe) { return tree_.on_host_of_this(pe); });
  if (local > 1) {  // with one local child, no other PE of this host needs the descriptors
    one.table.push_back(
        {child, theirs.fds_lost ? descriptor_entry::lost : static_cast<std::uint32_t>(theirs.fds.size())});
    contribution copies;
    for (const unique_fd& fd : theirs.fds) {
      copies.fds.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
      copies.fds_lost = copies.fds_lost || !copies.fds.back();
    }
    if (copies.fds_lost) copies.fds.clear();
    copies.fds_lost = copies.fds_lost || theirs.fds_lost;
    std::ranges::move(theirs.fds, std::back_inserter(one.owned));
    theirs = std::move(copies);
  }
  one.result.descriptors.emplace(child, std::move(theirs));
}

void group_exchange::finish(std::uint64_t number, round& one, blob value, messages& out) {
  const bool with_data = one.call == collective::all_gather || one.call == collective::reduce;
  std::shared_ptr<parcel> here;  // the result for children on this host, with all descriptors of this host
  std::shared_ptr<parcel> there;
  for (const int child : tree_.children()) {
    if (child == one.answered) continue;
    if (one.select) {
      auto part = std::make_shared<parcel>(with_table(one.select(value, one.below[child]), {}));
      send(message_kind::down, number, one.call, child, std::move(part), out);
      continue;
    }
    const bool local = tree_.on_host_of_this(child) && with_data && !one.table.empty();
    std::shared_ptr<parcel>& content = local ? here : there;
    if (local && !here)
      here = std::make_shared<parcel>(with_table(value, one.table), std::move(one.fds), std::move(one.owned));
    else if (!content)
      content = std::make_shared<parcel>(with_data ? with_table(value, {}) : blob());
    send(message_kind::down, number, one.call, child, content, out);
  }
  one.result.value = std::move(value);
  one.done = true;
  last_completed_ = one.call;
}

void group_exchange::take_down(arrived_message message, clock::time_point now, messages& out) {
  const control_header& header = message.header;
  const std::uint64_t number = header.sequence;
  const bool of_others = header.of_others != 0;
  if (header.from != tree_.parent() || header.call == collective::none || number < first_ ||
      number > next_ + max_ahead || (of_others && header.call == collective::all_gather))
    refuse(message);
  round& one = at(number, header.from, header.call, now);
  if (mismatch_) return;
  if (one.done || one.answer || (!of_others && !one.combined)) refuse(message);
  blob value = std::move(message.bytes);
  if (one.call == collective::all_gather || one.call == collective::reduce) {
    const auto table = take_table(value);
    if (!table) refuse(message);
    auto next = std::make_move_iterator(message.fds.begin());
    for (const descriptor_entry& entry : *table) {
      const bool lost = message.fds_lost || entry.fds == descriptor_entry::lost;
      contribution theirs{{}, {}, lost};
      if (!lost) {
        if (std::make_move_iterator(message.fds.end()) - next < static_cast<std::ptrdiff_t>(entry.fds)) refuse(message);
        theirs.fds.assign(next, next + static_cast<std::ptrdiff_t>(entry.fds));
        next += static_cast<std::ptrdiff_t>(entry.fds);
      }
      if (entry.pe != me_) one.result.descriptors.emplace(entry.pe, std::move(theirs));
    }
  }
  if (!of_others) return finish(number, one, std::move(value), out);
  one.answer = true;
  one.of_others = std::move(value);
  if (one.combined) finish_with_others(number, one, out);
}

group_exchange::member_set group_exchange::arrived(const round& one) const {
  member_set come = one.known;
  come.resize((members().size() + 7) / 8);
  for (std::size_t i = 0; i < members().size(); ++i) {
    const int pe = members()[i];
    const int below = tree_.child_towards(pe);
    const bool here = pe == me_ ? one.mine : below >= 0 ? one.combined || one.parts.contains(below) : one.answer;
    if (one.done || here) set(come, i);
  }
  return come;
}

blob group_exchange::value_of_arrived(const round& one) const {
  blob value = one.known_value;
  if (one.call != collective::await_leave) return value;
  if (one.mine) merge_counts(value, one.value);
  for (const auto& [child, part] : one.parts) merge_counts(value, part.bytes);
  return value;
}

void group_exchange::send_status(clock::time_point now, messages& out) {
  for (auto& [number, one] : rounds_) {
    if (one.done || one.given_up || now < one.next_status) continue;
    one.next_status = now + one.pause;
    one.pause = std::min(2 * one.pause, longest_pause);
    const bool root = tree_.parent() < 0;
    if (members().empty() || (!root && one.combined)) continue;  // no status is needed after the contribution was sent
    member_set come = arrived(one);
    if (come == one.told) continue;
    one.told = come;
    blob bytes(sizeof(std::int32_t) + come.size());
    const std::int32_t caller = one.caller;
    std::memcpy(bytes.data(), &caller, sizeof(caller));
    std::memcpy(bytes.data() + sizeof(caller), come.data(), come.size());
    const blob value = value_of_arrived(one);
    bytes.insert(bytes.end(), value.begin(), value.end());
    const auto content = std::make_shared<parcel>(std::move(bytes));
    if (!root) send(message_kind::status, number, one.call, tree_.parent(), content, out);
    for (const int child : root ? tree_.children() : std::span<const int>()) {
      // A child that has the contributions of all others may have completed the collective and removed the group. The
      // status is sent to this child only in await_leave, because only that status contains counts, and the child still
      // has the group of the world.
      if (child == one.answered && one.call != collective::await_leave) continue;
      send(message_kind::status, number, one.call, child, content, out);
    }
  }
}

std::optional<clock::time_point> group_exchange::next_status() const {
  std::optional<clock::time_point> next;
  if (members().size() < 2 || (tree_.parent() >= 0 && tree_.children().empty())) return next;
  for (const auto& [number, one] : rounds_)
    if (!one.done && !one.given_up && (tree_.parent() < 0 || !one.combined) && (!next || one.next_status < *next))
      next = one.next_status;
  return next;
}

void group_exchange::take_status(const arrived_message& message, clock::time_point now, messages& out) {
  const control_header& header = message.header;
  std::int32_t caller = -1;
  std::span<const std::byte> rest = message.bytes;
  const std::size_t set_bytes = (members().size() + 7) / 8;
  if (!take_value(rest, caller) || rest.size() < set_bytes || header.call == collective::none) refuse(message);
  if (header.sequence < first_) return;  // the status was sent before the collective completed
  if (header.sequence > next_ + max_ahead) refuse(message);
  if (!is_neighbour(header.from) || std::ranges::find(members(), caller) == members().end()) refuse(message);
  round& one = at(header.sequence, caller, header.call, now);
  add(one.known, {reinterpret_cast<const std::uint8_t*>(rest.data()), set_bytes});
  if (header.call == collective::await_leave) merge_counts(one.known_value, rest.subspan(set_bytes));
  if (header.from != tree_.parent()) return;
  const auto content = std::make_shared<parcel>(message.bytes);
  for (const int child : tree_.children())
    send(message_kind::status, header.sequence, header.call, child, content, out);
}

void group_exchange::abandon(std::uint64_t number, round& one, int except, messages& out) {
  if (one.done || one.given_up) return;
  one.given_up = true;
  const auto tell = [&](int pe) {
    if (pe >= 0 && pe != except)
      send(message_kind::abandon, number, one.call, pe, std::make_shared<parcel>(blob()), out);
  };
  tell(tree_.parent());
  for (const int child : tree_.children()) tell(child);
}

void group_exchange::lose(int pe, messages& out) {
  if (!is_neighbour(pe)) return;
  lost_.push_back(pe);
  abandon_lost(out);
}

void group_exchange::abandon_lost(messages& out) {
  for (const int pe : lost_)
    for (auto& [number, one] : rounds_)
      if (pe == tree_.parent() || (!one.combined && !one.parts.contains(pe))) abandon(number, one, pe, out);
}

bool group_exchange::is_neighbour(int pe) const {
  return pe == tree_.parent() || std::ranges::find(tree_.children(), pe) != tree_.children().end();
}

void group_exchange::withdraw(std::uint64_t sequence) {
  const auto found = rounds_.find(sequence);
  if (found == rounds_.end() || found->second.done) return;
  found->second.given_up = true;
  found->second.fds.clear();
}

bool group_exchange::complete(std::uint64_t sequence) const {
  const auto found = rounds_.find(sequence);
  return found != rounds_.end() && found->second.done;
}

bool group_exchange::abandoned(std::uint64_t sequence) const {
  const auto found = rounds_.find(sequence);
  return found == rounds_.end() || found->second.given_up;
}

exchange_result group_exchange::take(std::uint64_t sequence) {
  exchange_result result = std::move(rounds_.at(sequence).result);
  rounds_.erase(sequence);
  first_ = sequence + 1;
  return result;
}

std::optional<group_exchange::expectation> group_exchange::awaits_this_pe() const {
  for (const arrived_message& one : early_)
    if (one.header.kind == message_kind::up || one.header.kind == message_kind::status)
      return expectation{one.header.from, one.header.call};
  for (const auto& [number, one] : rounds_)
    if (!one.mine && !one.given_up && one.caller >= 0) return expectation{one.caller, one.call};
  return std::nullopt;
}

std::optional<group_exchange::own_wait> group_exchange::waits() const {
  for (const auto& [number, one] : rounds_)
    if (one.mine && !one.done) return own_wait{number, one.call, one.began};
  return std::nullopt;
}

std::vector<int> group_exchange::leavers() const {
  std::vector<int> found;
  for (const auto& [number, one] : rounds_) {
    if (!is_end(one.call)) continue;
    const member_set come = arrived(one);
    for (std::size_t i = 0; i < members().size(); ++i)
      if (test(come, i)) found.push_back(members()[i]);
  }
  std::ranges::sort(found);
  return found;
}

blob group_exchange::counts_of_leavers() const {
  for (const auto& [number, one] : rounds_)
    if (one.call == collective::await_leave) return value_of_arrived(one);
  return {};
}

std::vector<int> group_exchange::missing(std::uint64_t sequence) const {
  std::vector<int> result;
  const auto found = rounds_.find(sequence);
  const member_set come = found == rounds_.end() ? member_set() : arrived(found->second);
  for (std::size_t i = 0; i < members().size(); ++i)
    if (!test(come, i)) result.push_back(members()[i]);
  return result;
}

}  // namespace pgas::detail
