#include "tools/pgas-why/ask_job.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "common/net/unix_socket.hpp"
#include "host/control/question_service.hpp"

namespace pgas_why {

namespace {

using nlohmann::json;
using pgas::detail::clock;

constexpr std::chrono::milliseconds patience{1500};
/// One that is stopped takes a connection and says nothing: others are asked, too, where the first answers are late.
/// Each that is asked asks all PEs.
constexpr std::size_t most_asked = 4;
constexpr std::chrono::milliseconds late{150};

/// The directory, empty for an abstract name, and the name of a socket.
pgas::detail::unix_address address_of(const std::string& socket) {
  if (socket.starts_with('@')) return {"", socket.substr(1)};
  const std::filesystem::path path(socket);
  return {path.parent_path().string(), path.filename().string()};
}

std::optional<std::pair<std::string, int>> parse_name(std::string_view name) {
  constexpr std::string_view prefix = pgas::detail::question_socket_prefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t dash = name.find('-');
  if (dash != 16 || name.size() > 24) return std::nullopt;
  const std::string number(name.substr(dash + 1));
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::pair(std::string(name.substr(0, dash)), std::stoi(number));
}

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
  awaited_word word{from.at("offset"), from.at("compare"), from.at("expected"), from.at("seen"), {}};
  if (from.contains("allocation")) {
    const json& around = from.at("allocation");
    word.around = {around.at("number"), around.at("offset"), around.at("bytes")};
  }
  return word;
}

wait wait_of_kernel(const json& from) {
  wait found;
  found.what = from.at("what");
  found.thread = std::pair(from.at("block").get<std::uint32_t>(), from.at("thread").get<std::uint32_t>());
  if (from.at("pe").get<int>() >= 0) found.pes = {from.at("pe").get<int>()};
  found.word = word_of(from);
  found.ms = from.at("ms");
  return found;
}

void read_answer(pe_state& state, const json& from) {
  state.is = pe_state::life::answers;
  state.joining = from.value("joining", false);
  state.leaving = from.value("leaving", false);
  state.more = from.value("more", false) || from.value("too_long", false);
  state.idle_ms = from.value("idle_ms", 0L);
  state.short_calls = from.value("short_calls", std::uint64_t{0});
  for (const json& one : from.value("waits", json::array())) state.waits.push_back(wait_of_kernel(one));
  for (const json& one : from.value("commands", json::array())) {
    wait found;
    found.what = one.at("what").get<std::string>() + " through the proxy";
    found.pes = one.at("pes").get<std::vector<int>>();
    found.ms = one.at("ms");
    state.waits.push_back(found);
  }
  for (const json& one : from.value("calls", json::array())) {
    state.calls.push_back({one.at("name"), one.at("ms")});
    if (!one.contains("word")) continue;
    const json& word = one.at("word");
    wait found;
    found.what = one.at("name");
    if (word.at("pe").get<int>() >= 0) found.pes = {word.at("pe").get<int>()};
    found.word = word_of(word);
    found.ms = one.at("ms");
    state.waits.push_back(found);
  }
  for (const json& one : from.value("collectives", json::array())) {
    wait found;
    found.what = one.at("what");
    found.pes = one.at("missing").get<std::vector<int>>();
    found.number = one.at("number").get<std::uint64_t>();
    found.ms = one.at("ms");
    state.waits.push_back(found);
  }
}

bool is_pid(const std::string& wanted) {
  return !wanted.empty() && wanted.size() < 8 && wanted.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<pe_state> introduced(const json& by) {
  std::vector<pe_state> pes;
  for (const json& one : by.at("pes")) {
    pe_state next;
    next.pe = static_cast<int>(pes.size());
    next.pid = one.at("pid");
    next.host = one.at("host");
    next.here = one.at("here");
    pes.push_back(next);
  }
  return pes;
}

}  // namespace

std::vector<job> find_jobs(const std::string& directory) {
  std::map<std::string, std::map<int, std::string>> found;
  const auto add = [&found](std::string_view name, const std::string& socket) {
    if (const auto parsed = parse_name(name)) found[parsed->first][parsed->second] = socket;
  };
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    const std::size_t name = line.rfind(' ');
    if (name == std::string::npos || name + 2 > line.size() || line[name + 1] != '@') continue;
    add(std::string_view(line).substr(name + 2), line.substr(name + 1));
  }
  std::error_code none;
  if (!directory.empty())
    for (auto one = std::filesystem::directory_iterator(directory, none); one != std::filesystem::directory_iterator();
         one.increment(none))
      add(one->path().filename().string(), one->path().string());
  std::vector<job> jobs;
  for (const auto& [name, sockets] : found) {
    jobs.push_back({name, {}});
    for (const auto& [pe, socket] : sockets) jobs.back().sockets.push_back(socket);
  }
  return jobs;
}

bool may_be(const std::string& wanted, const job& one) { return is_pid(wanted) || one.name.starts_with(wanted); }

bool is(const std::string& wanted, const json& pes) {
  return !is_pid(wanted) || std::ranges::any_of(pes, [&](const json& one) {
    return one.at("here").get<bool>() && std::to_string(one.at("pid").get<pid_t>()) == wanted;
  });
}

json ask(const job& whom, pgas::detail::question what) {
  const std::string_view word = pgas::detail::question_words[static_cast<std::size_t>(what)];
  std::vector<pgas::detail::unique_fd> asked;
  std::size_t next = 0;   // of the sockets
  std::size_t times = 0;  // somebody was asked
  const auto ask_another = [&] {
    while (next < whom.sockets.size() && times < most_asked) {
      pgas::detail::connect_result to = pgas::detail::connect_to(address_of(whom.sockets[next++]));
      if (!to.fd || pgas::detail::send_packet(to.fd.get(), std::as_bytes(std::span(word)), {}, {}) != 0) continue;
      asked.push_back(std::move(to.fd));
      ++times;
      return;
    }
  };
  json found = json::object();
  std::set<int> answered;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  const clock::time_point end = clock::now() + patience;
  clock::time_point ask_next = clock::now();
  std::size_t missing = 1;
  while (missing != 0 && clock::now() < end) {
    if (asked.empty() || clock::now() >= ask_next) {
      ask_another();
      ask_next = clock::now() + late;
    }
    if (asked.empty()) break;
    std::vector<pollfd> ready;
    for (const auto& one : asked) ready.push_back({one.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min(end, times < most_asked && next < whom.sockets.size() ? ask_next : end) - clock::now());
    if (::poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = ready.size(); i-- > 0;) {
      if (ready[i].revents == 0) continue;
      const pgas::detail::received_packet packet = pgas::detail::receive_packet(asked[i].get(), buffer);
      using status = pgas::detail::received_packet::status;
      if (packet.what == status::nothing_yet) continue;
      if (packet.what != status::complete) {
        asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      const json said =
          json::parse(std::string_view(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size()));
      if (said.contains("pes")) {
        if (found.contains("pes")) continue;  // another PE was quicker
        found["pes"] = said.at("pes");
        missing = found["pes"].size();
      } else if (found.contains("pes") && answered.insert(said.at("pe").get<int>()).second) {
        found["answers"].push_back(said);
        --missing;
      }
    }
  }
  return found;
}

std::vector<pe_state> ask(const job& whom, json& answers) {
  answers = ask(whom, pgas::detail::question::waits);
  if (!answers.contains("pes")) return {};
  std::vector<pe_state> pes = introduced(answers);
  for (const json& said : answers.value("answers", json::array())) read_answer(pes.at(said.at("pe")), said);
  for (pe_state& one : pes)
    if (one.is != pe_state::life::answers && one.here) one.is = life_of(one.pid);
  return pes;
}

}  // namespace pgas_why
