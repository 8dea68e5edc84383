#include "host/watch/find_root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pgas::detail::told {

namespace {

using life = pe_state::life;

/// For each PE, the PEs that its waits name, without duplicates and in their order.
using names = std::vector<std::vector<int>>;

names names_in(const std::vector<pe_state>& pes) {
  names named(pes.size());
  for (std::size_t pe = 0; pe < pes.size(); ++pe) {
    if (pes[pe].is != life::answers) continue;
    for (const wait& item : pes[pe].waits)
      std::ranges::copy_if(item.pes, std::back_inserter(named[pe]),
                           [&](int to) { return to >= 0 && static_cast<std::size_t>(to) < pes.size(); });
    std::ranges::sort(named[pe]);
    named[pe].erase(std::unique(named[pe].begin(), named[pe].end()), named[pe].end());
  }
  return named;
}

/// For each PE, whether a chain of names leads from `from` to the PE.
std::vector<bool> reached_from(int from, const names& named) {
  std::vector<bool> reached(named.size());
  for (std::vector<int> next{from}; !next.empty();) {
    const int now = next.back();
    next.pop_back();
    for (const int to : named[static_cast<std::size_t>(now)]) {
      if (reached[static_cast<std::size_t>(to)]) continue;
      reached[static_cast<std::size_t>(to)] = true;
      next.push_back(to);
    }
  }
  return reached;
}

/// For each PE, whether all chains of names that start at the PE lead back to the PE. This holds if the PE names no PE,
/// or is in a cycle that no chain leaves.
std::vector<bool> ends_of(const names& named) {
  // Tarjan's algorithm, in linear time. PEs that name one another, directly or through others, form a group. The search
  // numbers PEs in the order of its visits. The number of a group is the lowest visit number of its PEs. A chain can be
  // as long as the job, so the search uses an explicit stack.
  constexpr int none = -1;
  const std::size_t n = named.size();
  std::vector<int> seen(n, none);    // the visit number, from 0
  std::vector<int> lowest(n, none);  // the lowest visit number that is known to be in the same group
  std::vector<int> group(n, none);   // set once the group is complete
  std::vector<int> open;             // visited PEs without a group
  struct step {
    std::size_t pe;
    std::size_t next;  // the index of the next name
  };
  std::vector<step> way;
  int count = 0;
  const auto enter = [&](std::size_t pe) {
    seen[pe] = lowest[pe] = count++;
    open.push_back(static_cast<int>(pe));
    way.push_back({pe, 0});
  };
  for (std::size_t start = 0; start < n; ++start) {
    if (seen[start] == none) enter(start);
    while (!way.empty()) {
      const std::size_t pe = way.back().pe;
      if (way.back().next < named[pe].size()) {
        const auto to = static_cast<std::size_t>(named[pe][way.back().next++]);
        if (seen[to] == none)
          enter(to);
        else if (group[to] == none)
          lowest[pe] = std::min(lowest[pe], seen[to]);
        continue;
      }
      way.pop_back();
      if (!way.empty()) lowest[way.back().pe] = std::min(lowest[way.back().pe], lowest[pe]);
      while (lowest[pe] == seen[pe] && group[pe] == none) {
        group[static_cast<std::size_t>(open.back())] = seen[pe];
        open.pop_back();
      }
    }
  }
  std::vector<bool> is_left(n);  // indexed by group
  for (std::size_t pe = 0; pe < n; ++pe)
    for (const int to : named[pe])
      if (group[static_cast<std::size_t>(to)] != group[pe]) is_left[static_cast<std::size_t>(group[pe])] = true;
  std::vector<bool> ends(n);
  for (std::size_t pe = 0; pe < n; ++pe) ends[pe] = !is_left[static_cast<std::size_t>(group[pe])];
  return ends;
}

/// The PEs of a shortest cycle of names that contains `pe`, from `pe` on.
std::vector<int> cycle_through(int pe, const names& named) {
  std::vector<int> before(named.size(), -1);
  std::vector<int> next{pe};
  for (std::size_t i = 0; i < next.size(); ++i) {
    for (const int to : named[static_cast<std::size_t>(next[i])]) {
      if (to == pe) {
        std::vector<int> way;
        for (int at = next[i]; at != pe; at = before[static_cast<std::size_t>(at)]) way.push_back(at);
        way.push_back(pe);
        std::ranges::reverse(way);
        return way;
      }
      if (before[static_cast<std::size_t>(to)] >= 0) continue;
      before[static_cast<std::size_t>(to)] = next[i];
      next.push_back(to);
    }
  }
  return {pe};
}

root::kind kind_of(const pe_state& state, bool in_cycle) {
  switch (state.is) {
    case life::gone: return root::kind::gone;
    case life::stopped: return root::kind::stopped;
    case life::silent: return root::kind::silent;
    case life::answers: break;
  }
  if (in_cycle) return root::kind::cycle;
  return state.waits.empty() ? root::kind::elsewhere : root::kind::own_wait;
}

std::string list_of(const std::vector<int>& pes) {
  if (pes.size() == 1) return fmt::format("PE {}", pes[0]);
  constexpr std::size_t most = 8;
  std::string text = fmt::format(
      "PEs {}", fmt::join(pes.begin(), pes.begin() + static_cast<std::ptrdiff_t>(std::min(most, pes.size())), ", "));
  if (pes.size() > most) text += fmt::format(" and {} more", pes.size() - most);
  return text;
}

/// The wait that a report describes. A wait for a word is preferred, because other PEs can end it. Other PEs cannot end
/// a wait for the PE's own blocks.
const wait& telling_wait(const pe_state& state) {
  const auto found =
      std::ranges::find_if(state.waits, [](const wait& item) { return item.word && item.what != "a grid barrier"; });
  return found == state.waits.end() ? state.waits.front() : *found;
}

}  // namespace

bool may_be_late(const root& found, const std::vector<pe_state>& pes) {
  if (found.what == root::kind::nobody_waits || found.what == root::kind::unseen) return true;
  return found.what == root::kind::elsewhere &&
         std::ranges::any_of(found.pes, [&](int pe) { return !pes[static_cast<std::size_t>(pe)].calls.empty(); });
}

root find_root(const std::vector<pe_state>& pes, int from) {
  root crowded{root::kind::crowded, {}};
  for (const pe_state& state : pes)
    if (state.crowded) crowded.pes.push_back(state.pe);
  if (!crowded.pes.empty()) return crowded;
  root best;
  if (std::ranges::all_of(pes,
                          [](const pe_state& state) { return state.is == life::answers && state.waits.empty(); })) {
    for (const pe_state& state : pes)
      if (std::ranges::any_of(state.calls, [&state](const call& each) { return each.ms >= state.looked_ms; }))
        best.pes.push_back(state.pe);
    if (!best.pes.empty()) best.what = root::kind::unseen;
    return best;
  }
  const names named = names_in(pes);
  const std::vector<bool> ends = ends_of(named);
  const std::vector<bool> reached = from >= 0 ? reached_from(from, named) : std::vector<bool>(pes.size(), true);
  // A wait that names no PE can be a wait for any PE.
  std::vector<bool> awaited(pes.size());
  bool any = false;
  for (const pe_state& state : pes) {
    if (state.pe != from && !reached[static_cast<std::size_t>(state.pe)]) continue;
    for (const int pe : named[static_cast<std::size_t>(state.pe)]) awaited[static_cast<std::size_t>(pe)] = true;
    any |= std::ranges::any_of(state.waits, [](const wait& each) { return each.pes.empty(); });
  }
  for (const pe_state& state : pes) {
    const auto index = static_cast<std::size_t>(state.pe);
    const bool is_concerned = any || awaited[index] || (from < 0 && !state.waits.empty());
    if ((!is_concerned && state.is == life::answers) || !ends[index]) continue;
    const root::kind what = kind_of(state, !named[index].empty());
    if (best.what != root::kind::nobody_waits && what > best.what) continue;
    if (best.what != what) best = {what, {}};
    if (what != root::kind::cycle)
      best.pes.push_back(state.pe);
    else if (best.pes.empty())
      best.pes = cycle_through(state.pe, named);
  }
  return best;
}

std::string say(const root& found, const std::vector<pe_state>& pes) {
  const auto state = [&pes](int pe) -> const pe_state& { return pes[static_cast<std::size_t>(pe)]; };
  const auto waiting = std::ranges::count_if(pes, [](const pe_state& pe) { return !pe.waits.empty(); });
  if (found.what == root::kind::nobody_waits) return "No PE waits in pgas.";
  const pe_state& first = state(found.pes.front());
  const std::string who = list_of(found.pes);
  const std::string others = waiting == 0 ? "" : fmt::format(" {} of {} PEs wait.", waiting, pes.size());
  const bool many = found.pes.size() > 1;
  switch (found.what) {
    case root::kind::nobody_waits: break;
    case root::kind::crowded: {
      const crowd& two = *first.crowded;
      const bool alike = two.first == two.second;
      return fmt::format(
          "On {} two groups of threads are in collectives of one team at the same time, on channel {} of {}: block {} "
          "thread {} and {}. A channel serves one group at a time: give each block its own channel (team.channel(i)), "
          "or let one block call the collective.{}",
          who, two.channel, name_of(two.members), two.first.first, two.first.second,
          alike ? "the same thread of another launch"
                : fmt::format("block {} thread {}", two.second.first, two.second.second),
          others);
    }
    case root::kind::unseen:
      return fmt::format(
          "No wait was found, but {} {} in a call: PE {} {}. The kernels of such calls are computing, or had no "
          "processor to answer on.",
          who, many ? "are" : "is", first.pe, activity_of(first));
    case root::kind::gone:
      return fmt::format("{} {} gone: pid {} on {} has ended.{}", who, many ? "are" : "is", first.pid, first.host,
                         others);
    case root::kind::stopped:
      return fmt::format("{} {} stopped, as by a debugger or SIGSTOP (pid {} on {}): `kill -CONT {}` continues it.{}",
                         who, many ? "are" : "is", first.pid, first.host, first.pid, others);
    case root::kind::silent:
      return fmt::format("{} {} not answer (pid {} on {}): stopped, or {} host or the network is down.{}", who,
                         many ? "do" : "does", first.pid, first.host, many ? "their" : "its", others);
    case root::kind::elsewhere:
      return fmt::format("The others wait for {}: {} {}.{}", who, many ? fmt::format("PE {}", first.pe) : "it",
                         activity_of(first), others);
    case root::kind::cycle: {
      bool of_collectives = many;
      std::string text =
          found.pes.size() == 1 ? fmt::format("PE {} waits for itself", first.pe) : who + " wait for one another";
      for (std::size_t i = 0; i < found.pes.size(); ++i) {
        const int to = found.pes[(i + 1) % found.pes.size()];
        const pe_state& from = state(found.pes[i]);
        const auto why = std::ranges::find_if(
            from.waits, [to](const wait& item) { return std::ranges::find(item.pes, to) != item.pes.end(); });
        const bool named = why != from.waits.end();
        if (!named || !why->writer.empty() || place_of(from, *why).find("lock") != std::string::npos)
          of_collectives = false;
        if (named && !why->writer.empty() && from.pe == to) {
          text += " in " + describe(from, *why);
          continue;
        }
        text += fmt::format("{} PE {} for PE {} {}", i == 0 ? ":" : ",", from.pe, to,
                            named ? "in " + place_of(from, *why) : "");
        if (named && !why->writer.empty()) text += ", whose " + why->writer;
      }
      return text + "." + (of_collectives ? " All PEs must make the same collective calls in the same order." : "") +
             others;
    }
    case root::kind::own_wait:
      return fmt::format("{} {} for a word that no PE is about to write: {}.{}", who, many ? "wait" : "waits",
                         describe(first, telling_wait(first)), others);
  }
  return {};
}

std::string root_of(int pe, std::string_view introduction, const std::vector<std::string>& answers) {
  const std::vector<pe_state> pes = read_answers(introduction, answers);
  const root found = find_root(pes, pe);
  return found.what == root::kind::nobody_waits || found.what == root::kind::unseen ? std::string() : say(found, pes);
}

}  // namespace pgas::detail::told
