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

/// The operating system's information about a process of this host that does not answer.
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
  for (const json& item : from.value("teams", json::array()))
    teams[item.at("id")] = {item.at("id"), item.value("members", std::vector<int>())};
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
  for (const json& item : from.value("behind", json::array()))
    found.behind.push_back({text_of(item.at("what")), item.at("pe"), item.at("offset"), item.at("bytes")});
  found.ms = from.at("ms");
  return found;
}

}  // namespace

std::vector<pe_state> introduced(const json& by) {
  std::vector<pe_state> pes;
  for (const json& item : by.at("pes")) {
    pe_state next;
    next.pe = static_cast<int>(pes.size());
    next.pid = item.at("pid");
    next.host = text_of(item.at("host"));
    next.here = item.at("here");
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
  const auto place_of = [](const json& item) {
    return std::pair(item.at(0).get<std::uint32_t>(), item.at(1).get<std::uint32_t>());
  };
  for (const json& element : from.value("waits", json::array())) try {
      state.waits.push_back(wait_of_kernel(element, teams));
    } catch (const std::out_of_range&) {
      throw json::other_error::create(501, "a wait names a team that is not in the answer", &element);
    }
  if (from.contains("crowd")) {
    const json& two = from.at("crowd");
    const auto members = teams.find(two.at("team"));
    if (members != teams.end())
      state.crowded = {members->second, two.at("channel"), place_of(two.at("first")), place_of(two.at("second"))};
  }
  for (const json& item : from.value("commands", json::array())) {
    wait found;
    found.what = text_of(item.at("what")) + " through the proxy";
    found.pes = item.at("pes").get<std::vector<int>>();
    found.ms = item.at("ms");
    state.waits.push_back(found);
  }
  for (const json& item : from.value("calls", json::array())) {
    state.calls.push_back({text_of(item.at("name")), item.at("ms")});
    if (!item.contains("word")) continue;
    const json& word = item.at("word");
    wait found;
    found.what = text_of(item.at("name"));
    if (word.at("pe").get<int>() >= 0) found.pes = {word.at("pe").get<int>()};
    found.word = word_of(word);
    found.ms = item.at("ms");
    state.waits.push_back(found);
  }
  for (const json& item : from.value("collectives", json::array())) {
    wait found;
    found.what = text_of(item.at("what"));
    found.pes = item.at("missing").get<std::vector<int>>();
    found.number = item.at("number").get<std::uint64_t>();
    found.ms = item.at("ms");
    state.waits.push_back(found);
  }
}

void complete(std::vector<pe_state>& pes) {
  for (pe_state& state : pes)
    if (state.is != pe_state::life::answers && state.here) state.is = life_of(state.pid);
  struct late_write {
    const pe_state* by;
    const wait* before;
    const enqueued_write* write;
  };
  std::vector<std::vector<late_write>> late(pes.size());  // indexed by the PE whose memory the writes change
  for (const pe_state& by : pes)
    for (const wait& before : by.waits)
      for (const enqueued_write& write : before.behind)
        if (write.pe >= 0 && static_cast<std::size_t>(write.pe) < pes.size())
          late[static_cast<std::size_t>(write.pe)].push_back({&by, &before, &write});
  for (pe_state& state : pes)
    for (wait& waiting : state.waits) {
      if (!waiting.pes.empty() || !waiting.word) continue;
      for (const auto& [by, before, write] : late[static_cast<std::size_t>(state.pe)]) {
        if (waiting.word->offset - write->offset >= write->bytes) continue;
        if (std::ranges::find(waiting.pes, by->pe) == waiting.pes.end()) waiting.pes.push_back(by->pe);
        const std::string before_it =
            before == &waiting ? "this wait on the same stream" : "a wait on a stream of PE " + std::to_string(by->pe);
        waiting.writer = write->what + " is enqueued behind " + before_it;
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
std::string call_around(const pe_state& state) {
  if (state.calls.empty()) return {};
  return strip(std::ranges::max_element(state.calls, {}, &call::ms)->name);
}

}  // namespace

std::string duration(long ms) {
  if (ms < 10'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  if (ms < 120'000) return fmt::format("{} s", ms / 1000);
  if (ms < 7'200'000) return fmt::format("{} min {} s", ms / 60'000, ms / 1000 % 60);
  return fmt::format("{} h {} min", ms / 3'600'000, ms / 60'000 % 60);
}

std::string name_of(const team& item) {
  // The lower bits of an identity are a count of the groups that a PE has proposed. The upper bits are the number of
  // this PE plus 1.
  constexpr int number_bits = 40;
  if (item.members.empty()) return "the team of all PEs";
  constexpr std::size_t most = 8;
  const auto end = item.members.begin() + static_cast<std::ptrdiff_t>(std::min(most, item.members.size()));
  std::string members =
      fmt::format("PE{} {}", item.members.size() == 1 ? "" : "s", fmt::join(item.members.begin(), end, ", "));
  if (item.members.size() > most) members += fmt::format(" and {} more", item.members.size() - most);
  constexpr std::uint64_t while_made = std::uint64_t{1} << 62;
  if (item.id >= while_made) return fmt::format("the group with key {} of {}", item.id % while_made, members);
  if (item.id >> number_bits == 0) return "the team of " + members;
  return fmt::format("team {}.{} of {}", (item.id >> number_bits) - 1,
                     item.id & ((std::uint64_t{1} << number_bits) - 1), members);
}

std::string activity_of(const pe_state& state) {
  switch (state.is) {
    case pe_state::life::gone: return "is gone";
    case pe_state::life::stopped: return "is stopped";
    case pe_state::life::silent: return "does not answer";
    case pe_state::life::answers: break;
  }
  if (state.joining) return "still joins";
  if (state.leaving) return "is leaving the world";
  if (!state.calls.empty()) {
    const call& longest = *std::ranges::max_element(state.calls, {}, &call::ms);
    return fmt::format("has been in {} for {}, and none of its kernels has reported a wait in pgas within {} ms",
                       strip(longest.name), duration(longest.ms), state.looked_ms);
  }
  if (state.short_calls != 0) return "makes many short calls, such as put or test";
  return fmt::format("has been in no call of this world for {}", duration(state.idle_ms));
}

std::string place_of(const pe_state& state, const wait& item) {
  const std::string around = call_around(state);
  const auto whole = [&item](const std::string& what) {
    return item.of_team ? what + " of " + name_of(*item.of_team) : what;
  };
  if (item.of_stream && !item.of_team) return item.what + " on a stream";
  if (item.thread && item.what == "collective")
    return whole(around.empty() || around == "synchronize" ? "a collective" : around);
  if (item.thread) return whole(item.what);
  return around.empty() || around == item.what ? strip(item.what) : fmt::format("{} ({})", around, strip(item.what));
}

std::string describe(const pe_state& state, const wait& item) {
  std::string text = place_of(state, item);
  if (item.thread && !item.of_stream)
    text += fmt::format(" in a kernel (block {} thread {})", item.thread->first, item.thread->second);
  if (!item.pes.empty() && item.pes != std::vector<int>{state.pe}) {
    constexpr std::size_t most = 8;
    const std::size_t shown = std::min(most, item.pes.size());
    text += fmt::format(" for PE{} {}", item.pes.size() > 1 ? "s" : "",
                        fmt::join(item.pes.begin(), item.pes.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < item.pes.size()) text += fmt::format(" and {} more", item.pes.size() - shown);
  }
  if (item.word && item.what != "collective" && item.what != "a grid barrier") {
    text += fmt::format(", the word at heap offset {:#x}", item.word->offset);
    if (item.word->around) text += ", " + detail::describe(*item.word->around, item.word->offset) + ",";
    text += fmt::format(" to become {} {} (it is {})", item.word->compare, item.word->expected, item.word->seen);
  }
  if (!item.writer.empty()) text += ", whose " + item.writer;
  if (item.number) text += fmt::format(" (number {} of its group)", *item.number);
  return text + ", for " + duration(item.ms);
}

}  // namespace pgas::detail::told
