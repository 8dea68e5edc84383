// Splits: members agree on the arguments, then each member makes its new team. Every exchange is an agreement, whose
// messages have the same size for any number of members. A split by colour also needs the colours and the keys of the
// members (color_runs.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "host/exchange/collective_step.hpp"
#include "host/team/color_runs.hpp"
#include "host/team/team_state.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

/// The lowest identity of groups that only the members of the group know. This value is above all identities of
/// control_group::new_identity().
constexpr control_group::identity of_members_alone = control_group::identity{1} << 63;
constexpr control_group::identity while_made = control_group::identity{1} << 62;

error different_calls(const control_group& group, const agreement& all) {
  const int pe = group.world_pe(all.other->member);
  const std::string first = text_of_split(all.first.value);
  const std::string other = text_of_split(all.other->value);
  if (first.empty() || other.empty())
    return {code::asymmetric_call,
            fmt::format("PE {} makes a different collective call from a split of this team: all members must make "
                        "the same calls in the same order",
                        first.empty() ? group.world_pe(0) : pe),
            pe};
  return {
      code::asymmetric_call,
      fmt::format("PE {} {} while PE {} {}: all members must make the same calls", group.world_pe(0), first, pe, other),
      pe};
}

/// Collective: compares and checks the arguments of all members. @return the first of n_pes() new identities.
/// *Errors* asymmetric_call, invalid_argument: the same on all members.
control_group::identity agree_on_split(const control_group& group, const split_call& mine, std::span<const int> list) {
  std::optional<error> refused;
  try {
    check_arguments(mine, list, group.n_pes());
  } catch (const error& why) {
    refused = why;
  }
  // One member proposes the identities.
  std::vector<std::uint64_t> proposed;
  if (group.my_pe() == 0) proposed.push_back(group.new_identity(static_cast<std::uint64_t>(group.n_pes())));
  const agreement all = agree(group, comparable(mine, list), refused, proposed);
  if (all.other) throw different_calls(group, all);
  if (all.failure) throw error(*all.failure);
  if (all.words.size() != 1)
    throw error(code::bootstrap_protocol, "a split has no identity, or several: please report this defect");
  return all.words.front().word;
}

/// Makes this member's team. @param chosen numbers of `parent`
std::shared_ptr<team_state> make_team(team_state& parent, control_group::identity id, std::span<const int> chosen,
                                      const team_config& how) {
  const control_group& group = parent.group();
  std::vector<int> members;
  for (const int pe : chosen) members.push_back(group.world_pe(pe));
  return std::make_shared<team_state>(parent.shared_world(),
                                      std::make_unique<control_group>(group, id, std::move(members)), how);
}

}  // namespace

std::shared_ptr<team_state> split(team_state& parent, const split_call& mine, std::span<const int> list) {
  parent.check();
  const host_call listed(parent.world(), "pgas::split");
  const std::lock_guard lock(parent.collective_mutex());
  const control_group& group = parent.group();
  const control_group::identity ids = agree_on_split(group, mine, list);
  blob colors;
  if (mine.what == split_call::kind::colors)
    colors = group.reduce(encode_color(group.my_pe(), mine.color, mine.key), merge_colors, colors_in);

  const std::vector<int> chosen = members_after(mine, list, colors, group.n_pes(), group.my_pe());
  std::shared_ptr<team_state> result;
  step_result outcome;
  outcome.call.what = collective_step::kind::add_team;
  if (!chosen.empty())
    outcome.failure = attempt(group, "make a team", [&] {
      result = make_team(parent, ids + static_cast<std::uint64_t>(chosen.front()), chosen, mine.config());
    });
  // The step is also a barrier, so that no PE uses the new team before all PEs have made it.
  if (const std::optional<error> failed = parent.memory().registered_buffers().agree(outcome).failure) {
    if (result) result->release();
    throw error(*failed);
  }
  return result;
}

std::shared_ptr<team_state> make_group(team_state& parent, std::span<const int> members, std::uint64_t key,
                                       const team_config& how) {
  parent.check();
  const host_call listed(parent.world(), "pgas::create_group");
  const control_group& group = parent.group();
  split_call asked;
  asked.what = split_call::kind::list;
  asked.configure(how);
  check_arguments(asked, members, group.n_pes());
  const auto refuse = [](const char* why) { throw error(code::invalid_argument, why); };
  if (std::find(members.begin(), members.end(), group.my_pe()) == members.end())
    refuse("team: this PE is not a member: only the members call this function");
  if (key >= while_made) refuse("team: the key of a group must be less than 2^62");

  std::vector<int> positions;
  for (const int pe : members) positions.push_back(group.world_pe(pe));
  std::sort(positions.begin(),
            positions.end());  // sorted, because members can list the same PEs in different orders
  const control_group members_only(group, of_members_alone | while_made | key, std::move(positions));
  const agreement all = agree(members_only, comparable(asked, members));
  if (all.other) throw different_calls(members_only, all);
  std::shared_ptr<team_state> result;
  step_result outcome;
  outcome.call.what = collective_step::kind::add_team;
  outcome.failure =
      attempt(members_only, "make a team", [&] { result = make_team(parent, of_members_alone | key, members, how); });
  if (const std::optional<error> failed = agree_on_step(members_only, outcome.call, outcome.failure).failure) {
    if (result) result->release();
    throw error(*failed);
  }
  return result;
}

}  // namespace pgas::detail
