#include "host/team/find_root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pgas::detail::told {

namespace {

using life = pe_state::life;

/// The PEs that `of` waits for by name.
std::set<int> named_by(const pe_state& of, std::size_t n) {
  std::set<int> named;
  for (const wait& one : of.waits)
    for (const int pe : one.pes)
      if (pe >= 0 && static_cast<std::size_t>(pe) < n) named.insert(pe);
  return named;
}

/// All that can be reached from `pe` by names.
std::set<int> reached_from(int pe, const std::vector<std::set<int>>& named) {
  std::set<int> reached;
  std::vector<int> next{pe};
  while (!next.empty()) {
    const int now = next.back();
    next.pop_back();
    for (const int to : named[static_cast<std::size_t>(now)])
      if (reached.insert(to).second) next.push_back(to);
  }
  return reached;
}

/// A shortest way from `pe` back to itself.
std::vector<int> cycle_through(int pe, const std::vector<std::set<int>>& named) {
  std::vector<std::vector<int>> ways{{pe}};
  std::set<int> seen;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (const int to : named[static_cast<std::size_t>(ways[i].back())]) {
      if (to == pe) return ways[i];
      if (!seen.insert(to).second) continue;
      std::vector<int> longer = ways[i];
      longer.push_back(to);
      ways.push_back(std::move(longer));
    }
  }
  return {pe};
}

root::kind kind_of(const pe_state& of, bool in_cycle) {
  switch (of.is) {
    case life::gone: return root::kind::gone;
    case life::stopped: return root::kind::stopped;
    case life::silent: return root::kind::silent;
    case life::answers: break;
  }
  if (in_cycle) return root::kind::cycle;
  return of.waits.empty() ? root::kind::elsewhere : root::kind::own_wait;
}

std::string list_of(const std::vector<int>& pes) {
  if (pes.size() == 1) return fmt::format("PE {}", pes[0]);
  constexpr std::size_t most = 8;
  std::string text = fmt::format(
      "PEs {}", fmt::join(pes.begin(), pes.begin() + static_cast<std::ptrdiff_t>(std::min(most, pes.size())), ", "));
  if (pes.size() > most) text += fmt::format(" and {} more", pes.size() - most);
  return text;
}

/// Of a PE's waits the one that others can end: one for a word, rather than for the PE's own blocks.
const wait& telling_wait(const pe_state& of) {
  const auto found =
      std::ranges::find_if(of.waits, [](const wait& one) { return one.word && one.what != "a grid barrier"; });
  return found == of.waits.end() ? of.waits.front() : *found;
}

}  // namespace

bool may_be_late(const root& found, const std::vector<pe_state>& pes) {
  if (found.what == root::kind::nobody_waits || found.what == root::kind::unseen) return true;
  return found.what == root::kind::elsewhere &&
         std::ranges::any_of(found.pes, [&](int pe) { return !pes[static_cast<std::size_t>(pe)].calls.empty(); });
}

root find_root(const std::vector<pe_state>& pes, int from) {
  const std::size_t n = pes.size();
  root crowded{root::kind::crowded, {}};
  for (const pe_state& one : pes)
    if (one.crowded) crowded.pes.push_back(one.pe);
  if (!crowded.pes.empty()) return crowded;
  std::vector<std::set<int>> named;
  for (const pe_state& one : pes) named.push_back(one.is == life::answers ? named_by(one, n) : std::set<int>());
  std::vector<std::set<int>> reached;
  for (std::size_t pe = 0; pe < n; ++pe) reached.push_back(reached_from(static_cast<int>(pe), named));
  const auto reaches = [&reached](int pe, int other) { return reached[static_cast<std::size_t>(pe)].contains(other); };
  root best;
  if (std::ranges::all_of(pes, [](const pe_state& one) { return one.is == life::answers && one.waits.empty(); })) {
    for (const pe_state& one : pes)
      if (std::ranges::any_of(one.calls, [&one](const call& each) { return each.ms >= one.looked_ms; }))
        best.pes.push_back(one.pe);
    if (!best.pes.empty()) best.what = root::kind::unseen;
    return best;
  }
  // A wait that names nobody may be for any PE.
  std::set<int> awaited;
  bool any = false;
  for (const pe_state& one : pes) {
    if (from >= 0 && one.pe != from && !reaches(from, one.pe)) continue;
    const std::set<int>& names = named[static_cast<std::size_t>(one.pe)];
    awaited.insert(names.begin(), names.end());
    any |= std::ranges::any_of(one.waits, [](const wait& each) { return each.pes.empty(); });
  }
  for (const pe_state& one : pes) {
    const bool is_concerned = any || awaited.contains(one.pe) || (from < 0 && !one.waits.empty());
    if (!is_concerned && one.is == life::answers) continue;
    // Those from which all ways lead back: a PE that waits for nobody by name, or a cycle that nobody leaves.
    const bool ends_here = std::ranges::all_of(reached[static_cast<std::size_t>(one.pe)],
                                               [&](int other) { return other == one.pe || reaches(other, one.pe); });
    if (!ends_here) continue;
    const bool in_cycle = reaches(one.pe, one.pe);
    const root::kind what = kind_of(one, in_cycle);
    if (best.what != root::kind::nobody_waits && what > best.what) continue;
    if (best.what != what) best = {what, {}};
    if (what != root::kind::cycle)
      best.pes.push_back(one.pe);
    else if (best.pes.empty())
      best.pes = cycle_through(one.pe, named);
  }
  return best;
}

std::string say(const root& found, const std::vector<pe_state>& pes) {
  const auto state = [&pes](int pe) -> const pe_state& { return pes[static_cast<std::size_t>(pe)]; };
  const auto waiting = std::ranges::count_if(pes, [](const pe_state& one) { return !one.waits.empty(); });
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
          "thread {} and {}. A channel serves one group at a time: give each block its own (team.channel(i)), or let "
          "one block call the collective.{}",
          who, two.channel, name_of(two.of), two.first.first, two.first.second,
          alike ? "the same thread of another launch"
                : fmt::format("block {} thread {}", two.second.first, two.second.second),
          others);
    }
    case root::kind::unseen:
      return fmt::format(
          "No wait is seen, but {} {} in a call: PE {} {}. The kernels of such calls compute, or have "
          "had no processor to answer on.",
          who, many ? "are" : "is", first.pe, activity_of(first));
    case root::kind::gone:
      return fmt::format("{} {} gone: pid {} on {} has ended.{}", who, many ? "are" : "is", first.pid, first.host,
                         others);
    case root::kind::stopped:
      return fmt::format("{} {} stopped, as by a debugger or SIGSTOP (pid {} on {}): `kill -CONT {}` lets it go on.{}",
                         who, many ? "are" : "is", first.pid, first.host, first.pid, others);
    case root::kind::silent:
      return fmt::format("{} {} not answer (pid {} on {}): stopped, or {} host or the network is down.{}", who,
                         many ? "do" : "does", first.pid, first.host, many ? "their" : "its", others);
    case root::kind::elsewhere:
      return fmt::format("{} {} what the others wait for: {} {}.{}", who, many ? "are" : "is",
                         many ? fmt::format("PE {}", first.pe) : "it", activity_of(first), others);
    case root::kind::cycle: {
      bool of_collectives = many;
      std::string text =
          found.pes.size() == 1 ? fmt::format("PE {} waits for itself", first.pe) : who + " wait for one another";
      for (std::size_t i = 0; i < found.pes.size(); ++i) {
        const int to = found.pes[(i + 1) % found.pes.size()];
        const pe_state& from = state(found.pes[i]);
        const auto why = std::ranges::find_if(
            from.waits, [to](const wait& one) { return std::ranges::find(one.pes, to) != one.pes.end(); });
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
      return fmt::format("{} {} for a word that no PE is on the way to write: {}.{}", who, many ? "wait" : "waits",
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
