#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "host/exchange/collective_step.hpp"
#include "host/team/team_state.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

using kind = split_call::kind;

constexpr int most_channels = 1024;

/// The call of one member.
struct proposal {
  split_call call;
  std::vector<int> list;
};

blob encode(const split_call& call, std::span<const int> list) {
  blob bytes(sizeof(call) + list.size_bytes());
  std::memcpy(bytes.data(), &call, sizeof(call));
  if (!list.empty()) std::memcpy(bytes.data() + sizeof(call), list.data(), list.size_bytes());
  return bytes;
}

proposal decode(const blob& bytes, int pe) {
  proposal asked;
  if (bytes.size() >= sizeof(asked.call)) std::memcpy(&asked.call, bytes.data(), sizeof(asked.call));
  if (bytes.size() < sizeof(asked.call) || asked.call.magic != split_call::expected_magic)
    throw error(code::asymmetric_call,
                fmt::format("PE {} makes a different collective call from a split of this team: all members must make "
                            "the same calls in the same order",
                            pe),
                pe);
  asked.list.resize((bytes.size() - sizeof(asked.call)) / sizeof(int));
  if (!asked.list.empty())
    std::memcpy(asked.list.data(), bytes.data() + sizeof(asked.call), asked.list.size() * sizeof(int));
  return asked;
}

std::string text_of(const proposal& asked) {
  const split_call& call = asked.call;
  const std::string channels = fmt::format(", {} channels{}", call.channels, call.staged != 0 ? ", staged" : "");
  switch (call.what) {
    case kind::strided:
      return fmt::format("splits by start {}, stride {}, size {}{}", call.start, call.stride, call.size, channels);
    case kind::colors: return fmt::format("splits by colour{}", channels);
    case kind::rows: return fmt::format("splits into rows of {}{}", call.size, channels);
    case kind::columns: return fmt::format("splits into {} columns{}", call.size, channels);
    case kind::list: break;
  }
  std::string members;
  for (std::size_t i = 0; i < std::min<std::size_t>(asked.list.size(), 8); ++i)
    members += fmt::format("{}{}", i == 0 ? "" : " ", asked.list[i]);
  return fmt::format("splits by a list of {} ({}{}){}", asked.list.size(), members, asked.list.size() > 8 ? " ..." : "",
                     channels);
}

void check_same(const std::vector<proposal>& all, const control_group& parent) {
  const auto same = [](const proposal& a, const proposal& b) {
    return a.call.what == b.call.what && a.call.start == b.call.start && a.call.stride == b.call.stride &&
           a.call.size == b.call.size && a.call.channels == b.call.channels && a.call.staged == b.call.staged &&
           a.list == b.list;
  };
  for (std::size_t i = 1; i < all.size(); ++i)
    if (!same(all[i], all[0])) {
      const int pe = parent.world_pe(static_cast<int>(i));
      throw error(code::asymmetric_call,
                  fmt::format("PE {} {} while PE {} {}: all members must make the same calls", parent.world_pe(0),
                              text_of(all[0]), pe, text_of(all[i])),
                  pe);
    }
}

[[noreturn]] void refuse(const std::string& why) { throw error(code::invalid_argument, "team: " + why); }

/// Throws invalid_argument. @param n the number of PEs of the parent
void check_arguments(const proposal& asked, int n) {
  const split_call& call = asked.call;
  if (call.channels < 1 || call.channels > most_channels)
    refuse(fmt::format("{} channels: a team has 1 to {} channels", call.channels, most_channels));
  if ((call.what == kind::rows || call.what == kind::columns) && call.size < 1)
    refuse(fmt::format("rows of {} PEs: at least 1", call.size));
  if (call.what == kind::strided) {
    const long last = call.start + (static_cast<long>(call.size) - 1) * call.stride;
    if (call.size < 1) refuse(fmt::format("a team of {} PEs: at least 1", call.size));
    if (call.size > 1 && call.stride == 0) refuse("a stride of 0 names the same PE again and again");
    if (call.start < 0 || call.start >= n || last < 0 || last >= n)
      refuse(fmt::format("start {}, stride {} and size {} lead from PE {} to PE {}, but PEs are 0 to {}", call.start,
                         call.stride, call.size, call.start, last, n - 1));
  }
  if (call.what == kind::list) {
    if (asked.list.empty()) refuse("the list of members is empty");
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const int pe : asked.list) {
      if (pe < 0 || pe >= n) refuse(fmt::format("the list has PE {}, but PEs are 0 to {}", pe, n - 1));
      if (seen[static_cast<std::size_t>(pe)]) refuse(fmt::format("the list has PE {} twice", pe));
      seen[static_cast<std::size_t>(pe)] = true;
    }
  }
}

/// The members of the new team of member `me`, by their numbers in the parent.
std::vector<int> choose(const std::vector<proposal>& all, int me) {
  const proposal& mine = all[static_cast<std::size_t>(me)];
  const split_call& call = mine.call;
  if (call.what == kind::list) return mine.list;
  std::vector<int> chosen;
  const int n = static_cast<int>(all.size());
  switch (call.what) {
    case kind::strided:
      for (int i = 0; i < call.size; ++i) chosen.push_back(call.start + i * call.stride);
      break;
    case kind::rows:
      for (int pe = me / call.size * call.size; pe < n && pe / call.size == me / call.size; ++pe) chosen.push_back(pe);
      break;
    case kind::columns: {
      const int rows_of = std::min(call.size, n);  // limited so that the sum does not overflow
      for (int pe = me % rows_of; pe < n; pe += rows_of) chosen.push_back(pe);
      break;
    }
    case kind::colors:
      for (int pe = 0; call.color >= 0 && pe < n; ++pe)
        if (all[static_cast<std::size_t>(pe)].call.color == call.color) chosen.push_back(pe);
      std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) {
        return all[static_cast<std::size_t>(a)].call.key < all[static_cast<std::size_t>(b)].call.key;
      });
      break;
    case kind::list: break;
  }
  return chosen;
}

/// The first identity of groups that only their members know. It is above all identities of
/// control_group::new_identity().
constexpr control_group::identity of_members_alone = control_group::identity{1} << 63;
constexpr control_group::identity while_made = control_group::identity{1} << 62;

}  // namespace

std::shared_ptr<team_state> split(team_state& parent, split_call mine, std::span<const int> list) {
  parent.check();
  const host_call listed(parent.world(), "pgas::split");
  const std::lock_guard lock(parent.collective_mutex());
  const control_group& group = parent.group();
  const int me = group.my_pe();
  // A list that is too long to be sent is cut. The rest is still too long for a list of members, so all PEs report the
  // error.
  if (list.size() > static_cast<std::size_t>(group.n_pes()))
    list = list.first(static_cast<std::size_t>(group.n_pes()) + 1);
  mine.proposed = group.new_identity();
  std::vector<proposal> all;
  for (const contribution& theirs : group.all_gather(encode(mine, list)))
    all.push_back(decode(theirs.bytes, group.world_pe(static_cast<int>(all.size()))));
  check_same(all, group);
  check_arguments(all[0], group.n_pes());

  const std::vector<int> chosen = choose(all, me);
  std::shared_ptr<team_state> made;
  step_result outcome;
  outcome.call.what = collective_step::kind::add_team;
  if (std::find(chosen.begin(), chosen.end(), me) != chosen.end())
    outcome.failure = attempt(group, "make a team", [&] {
      std::vector<int> members;
      for (const int pe : chosen) members.push_back(group.world_pe(pe));
      auto own = std::make_unique<control_group>(group, all[static_cast<std::size_t>(chosen.front())].call.proposed,
                                                 std::move(members));
      made = std::make_shared<team_state>(parent.shared_world(), std::move(own), mine.config());
    });
  // The step is also a barrier: no PE uses the new team before all PEs have made it.
  if (const std::optional<error> failed = parent.memory().registered_buffers().agree(outcome).failure) {
    if (made) made->release();
    throw error(*failed);
  }
  return made;
}

std::shared_ptr<team_state> make_group(team_state& parent, std::span<const int> members, std::uint64_t key,
                                       const team_config& how) {
  parent.check();
  const host_call listed(parent.world(), "pgas::create_group");
  const control_group& group = parent.group();
  proposal asked;
  asked.call.what = kind::list;
  asked.call.configure(how);
  asked.list.assign(members.begin(), members.end());
  check_arguments(asked, group.n_pes());
  if (std::find(members.begin(), members.end(), group.my_pe()) == members.end())
    refuse("this PE is not a member: only the members call this function");
  if (key >= while_made) refuse("the key of a group must be less than 2^62");

  std::vector<int> there;
  for (const int pe : members) there.push_back(group.world_pe(pe));
  const control_group members_only(group, of_members_alone | while_made | key, there);
  // With lists in different orders, the members would number themselves differently.
  std::vector<proposal> all;
  for (const contribution& theirs : members_only.all_gather(encode(asked.call, asked.list)))
    all.push_back(decode(theirs.bytes, members_only.world_pe(static_cast<int>(all.size()))));
  check_same(all, members_only);
  std::shared_ptr<team_state> made;
  step_result outcome;
  outcome.call.what = collective_step::kind::add_team;
  outcome.failure = attempt(members_only, "make a team", [&] {
    auto own = std::make_unique<control_group>(group, of_members_alone | key, there);
    made = std::make_shared<team_state>(parent.shared_world(), std::move(own), how);
  });
  if (const std::optional<error> failed = agree_on_step(members_only, outcome.call, outcome.failure).failure) {
    if (made) made->release();
    throw error(*failed);
  }
  return made;
}

}  // namespace pgas::detail
