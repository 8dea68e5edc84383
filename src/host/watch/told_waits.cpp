#include "host/watch/told_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/printable.hpp"
#include "common/process_identity.hpp"

namespace pgas::detail::told {

namespace {

using json = nlohmann::ordered_json;  // the only JSON class that src/host/watch instantiates
using teams_by_id = std::map<std::uint64_t, team>;

std::string text_of(const json& from) { return printable(from.get<std::string>()); }

/// The kernel's information about a process of this host that does not answer.
pe_state::life life_of(pid_t pid) {
  const std::optional<process_status> process = status_of(pid);
  if (!process) return std::filesystem::exists("/proc/self/stat") ? pe_state::life::gone : pe_state::life::silent;
  if (process->stopped()) return pe_state::life::stopped;
  return process->ended() ? pe_state::life::gone : pe_state::life::silent;
}

awaited_word word_of(const json& from) {
  awaited_word word{from.at("offset"), text_of(from.at("compare")), from.at("expected"), from.at("seen"), {}};
  if (from.contains("allocation")) {
    const json& around = from.at("allocation");
    word.around = {around.at("number"), around.at("offset"), around.at("bytes")};
  }
  return word;
}

teams_by_id teams_of(const json& from) {
  teams_by_id teams;
  for (const json& one : from.value("teams", json::array()))
    teams[one.at("id")] = {one.at("id"), one.value("members", std::vector<int>())};
  return teams;
}

wait wait_of_kernel(const json& from, const teams_by_id& teams) {
  wait found;
  found.what = text_of(from.at("what"));
  found.thread = std::pair(from.at("block").get<std::uint32_t>(), from.at("thread").get<std::uint32_t>());
  if (from.at("pe").get<int>() >= 0) found.pes = {from.at("pe").get<int>()};
  found.word = word_of(from);
  if (from.contains("team")) found.of_team = teams.at(from.at("team"));
  found.of_stream = from.contains("behind");
  for (const json& one : from.value("behind", json::array()))
    found.behind.push_back({text_of(one.at("what")), one.at("pe"), one.at("offset"), one.at("bytes")});
  found.ms = from.at("ms");
  return found;
}

}  // namespace

std::vector<pe_state> introduced(const json& by) {
  std::vector<pe_state> pes;
  for (const json& one : by.at("pes")) {
    pe_state next;
    next.pe = static_cast<int>(pes.size());
    next.pid = one.at("pid");
    next.host = text_of(one.at("host"));
    next.here = one.at("here");
    pes.push_back(next);
  }
  return pes;
}

void read_answer(pe_state& state, const json& from) {
  state.is = pe_state::life::answers;
  state.joining = from.value("joining", false);
  state.leaving = from.value("leaving", false);
  state.more = from.value("more", false) || from.value("too_long", false);
  state.idle_ms = from.value("idle_ms", 0L);
  state.looked_ms = from.value("looked_ms", 15L);
  state.short_calls = from.value("short_calls", std::uint64_t{0});
  const teams_by_id teams = teams_of(from);
  const auto place_of = [](const json& one) {
    return std::pair(one.at(0).get<std::uint32_t>(), one.at(1).get<std::uint32_t>());
  };
  for (const json& one : from.value("waits", json::array())) try {
      state.waits.push_back(wait_of_kernel(one, teams));
    } catch (const std::out_of_range&) {
      throw json::other_error::create(501, "a wait names a team that is not in the answer", &one);
    }
  if (from.contains("crowd")) {
    const json& two = from.at("crowd");
    const auto of = teams.find(two.at("team"));
    if (of != teams.end())
      state.crowded = {of->second, two.at("channel"), place_of(two.at("first")), place_of(two.at("second"))};
  }
  for (const json& one : from.value("commands", json::array())) {
    wait found;
    found.what = text_of(one.at("what")) + " through the proxy";
    found.pes = one.at("pes").get<std::vector<int>>();
    found.ms = one.at("ms");
    state.waits.push_back(found);
  }
  for (const json& one : from.value("calls", json::array())) {
    state.calls.push_back({text_of(one.at("name")), one.at("ms")});
    if (!one.contains("word")) continue;
    const json& word = one.at("word");
    wait found;
    found.what = text_of(one.at("name"));
    if (word.at("pe").get<int>() >= 0) found.pes = {word.at("pe").get<int>()};
    found.word = word_of(word);
    found.ms = one.at("ms");
    state.waits.push_back(found);
  }
  for (const json& one : from.value("collectives", json::array())) {
    wait found;
    found.what = text_of(one.at("what"));
    found.pes = one.at("missing").get<std::vector<int>>();
    found.number = one.at("number").get<std::uint64_t>();
    found.ms = one.at("ms");
    state.waits.push_back(found);
  }
}

void complete(std::vector<pe_state>& pes) {
  for (pe_state& one : pes)
    if (one.is != pe_state::life::answers && one.here) one.is = life_of(one.pid);
  struct late_write {
    const pe_state* by;
    const wait* before;
    const enqueued_write* write;
  };
  std::vector<std::vector<late_write>> late(pes.size());  // by the PE whose memory the writes change
  for (const pe_state& by : pes)
    for (const wait& before : by.waits)
      for (const enqueued_write& write : before.behind)
        if (write.pe >= 0 && static_cast<std::size_t>(write.pe) < pes.size())
          late[static_cast<std::size_t>(write.pe)].push_back({&by, &before, &write});
  for (pe_state& one : pes)
    for (wait& of : one.waits) {
      if (!of.pes.empty() || !of.word) continue;
      for (const auto& [by, before, write] : late[static_cast<std::size_t>(one.pe)]) {
        if (of.word->offset - write->offset >= write->bytes) continue;
        if (std::ranges::find(of.pes, by->pe) == of.pes.end()) of.pes.push_back(by->pe);
        const std::string before_it =
            before == &of ? "this wait on the same stream" : "a wait on a stream of PE " + std::to_string(by->pe);
        of.writer = write->what + " is enqueued behind " + before_it;
      }
    }
}

std::vector<pe_state> read_answers(std::string_view introduction, const std::vector<std::string>& answers) {
  try {
    std::vector<pe_state> pes = introduced(json::parse(introduction));
    for (const std::string& text : answers) {
      const json said = json::parse(text);
      read_answer(pes.at(said.at("pe").get<std::size_t>()), said);
    }
    complete(pes);
    return pes;
  } catch (const json::exception&) {
    return {};
  } catch (const std::out_of_range&) {
    return {};
  }
}

// ---- in words ----

namespace {

std::string strip(const std::string& name) { return name.starts_with("pgas::") ? name.substr(6) : name; }

/// The call that contains the wait: the call with the longest duration.
std::string call_around(const pe_state& of) {
  if (of.calls.empty()) return {};
  return strip(std::ranges::max_element(of.calls, {}, &call::ms)->name);
}

}  // namespace

std::string duration(long ms) {
  if (ms < 10'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  if (ms < 120'000) return fmt::format("{} s", ms / 1000);
  if (ms < 7'200'000) return fmt::format("{} min {} s", ms / 60'000, ms / 1000 % 60);
  return fmt::format("{} h {} min", ms / 3'600'000, ms / 60'000 % 60);
}

std::string name_of(const team& one) {
  // The lower bits of an identity are a count of the groups that a PE has proposed. The upper bits are the number of
  // this PE plus 1.
  constexpr int number_bits = 40;
  if (one.members.empty()) return "the team of all PEs";
  constexpr std::size_t most = 8;
  const auto end = one.members.begin() + static_cast<std::ptrdiff_t>(std::min(most, one.members.size()));
  std::string members =
      fmt::format("PE{} {}", one.members.size() == 1 ? "" : "s", fmt::join(one.members.begin(), end, ", "));
  if (one.members.size() > most) members += fmt::format(" and {} more", one.members.size() - most);
  constexpr std::uint64_t while_made = std::uint64_t{1} << 62;
  if (one.id >= while_made) return fmt::format("the group with key {} of {}", one.id % while_made, members);
  if (one.id >> number_bits == 0) return "the team of " + members;
  return fmt::format("team {}.{} of {}", (one.id >> number_bits) - 1, one.id & ((std::uint64_t{1} << number_bits) - 1),
                     members);
}

std::string activity_of(const pe_state& of) {
  switch (of.is) {
    case pe_state::life::gone: return "is gone";
    case pe_state::life::stopped: return "is stopped";
    case pe_state::life::silent: return "does not answer";
    case pe_state::life::answers: break;
  }
  if (of.joining) return "still joins";
  if (of.leaving) return "is leaving the world";
  if (!of.calls.empty()) {
    const call& longest = *std::ranges::max_element(of.calls, {}, &call::ms);
    return fmt::format("has been in {} for {}, and none of its kernels has reported a wait in pgas within {} ms",
                       strip(longest.name), duration(longest.ms), of.looked_ms);
  }
  if (of.short_calls != 0) return "makes many short calls, such as put or test";
  return fmt::format("has been in no call of this world for {}", duration(of.idle_ms));
}

std::string place_of(const pe_state& of, const wait& one) {
  const std::string around = call_around(of);
  const auto whole = [&one](const std::string& what) {
    return one.of_team ? what + " of " + name_of(*one.of_team) : what;
  };
  if (one.of_stream && !one.of_team) return one.what + " on a stream";
  if (one.thread && one.what == "collective")
    return whole(around.empty() || around == "synchronize" ? "a collective" : around);
  if (one.thread) return whole(one.what);
  return around.empty() || around == one.what ? strip(one.what) : fmt::format("{} ({})", around, strip(one.what));
}

std::string describe(const pe_state& of, const wait& one) {
  std::string text = place_of(of, one);
  if (one.thread && !one.of_stream)
    text += fmt::format(" in a kernel (block {} thread {})", one.thread->first, one.thread->second);
  if (!one.pes.empty() && one.pes != std::vector<int>{of.pe}) {
    constexpr std::size_t most = 8;
    const std::size_t shown = std::min(most, one.pes.size());
    text += fmt::format(" for PE{} {}", one.pes.size() > 1 ? "s" : "",
                        fmt::join(one.pes.begin(), one.pes.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < one.pes.size()) text += fmt::format(" and {} more", one.pes.size() - shown);
  }
  if (one.word && one.what != "collective" && one.what != "a grid barrier") {
    text += fmt::format(", the word at heap offset {:#x}", one.word->offset);
    if (one.word->around) text += ", " + detail::describe(*one.word->around, one.word->offset) + ",";
    text += fmt::format(" to become {} {} (it is {})", one.word->compare, one.word->expected, one.word->seen);
  }
  if (!one.writer.empty()) text += ", whose " + one.writer;
  if (one.number) text += fmt::format(" (number {} of its group)", *one.number);
  return text + ", for " + duration(one.ms);
}

}  // namespace pgas::detail::told
