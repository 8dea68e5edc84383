#include "host/team/told_waits.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "common/printable.hpp"
#include "host/team/find_root.hpp"

namespace pgas::detail::told {

namespace {

using nlohmann::json;
using teams_by_id = std::map<std::uint64_t, team>;

std::string text_of(const json& from) { return printable(from.get<std::string>()); }

/// What the kernel says of a process of this host that does not answer.
pe_state::life life_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text))
    return std::filesystem::exists("/proc/self/stat") ? pe_state::life::gone : pe_state::life::silent;
  const std::size_t end = text.rfind(')');  // the name before may contain anything
  const char state = end != std::string::npos && end + 2 < text.size() ? text[end + 2] : '?';
  if (state == 'T' || state == 't') return pe_state::life::stopped;
  if (state == 'Z' || state == 'X') return pe_state::life::gone;
  return pe_state::life::silent;
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
  for (pe_state& one : pes)
    for (wait& of : one.waits) {
      if (!of.pes.empty() || !of.word) continue;
      for (const pe_state& by : pes)
        for (const wait& before : by.waits)
          for (const enqueued_write& write : before.behind) {
            if (write.pe != one.pe || of.word->offset - write.offset >= write.bytes) continue;
            if (std::ranges::find(of.pes, by.pe) == of.pes.end()) of.pes.push_back(by.pe);
            const std::string before_it =
                &before == &of ? "this wait on the same stream" : "a wait on a stream of PE " + std::to_string(by.pe);
            of.writer = write.what + " is enqueued behind " + before_it;
          }
    }
}

std::string root_of(int pe, std::string_view introduction, const std::vector<std::string>& answers) {
  try {
    std::vector<pe_state> pes = introduced(json::parse(introduction));
    for (const std::string& text : answers) {
      const json said = json::parse(text);
      read_answer(pes.at(said.at("pe").get<std::size_t>()), said);
    }
    complete(pes);
    const root found = find_root(pes, pe);
    return found.what == root::kind::nobody_waits || found.what == root::kind::unseen ? std::string() : say(found, pes);
  } catch (const json::exception&) {
    return {};
  } catch (const std::out_of_range&) {
    return {};
  }
}

}  // namespace pgas::detail::told
