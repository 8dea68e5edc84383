#include "tools/pgas-why/ask_job.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "common/net/unix_socket.hpp"
#include "host/failure/question_service.hpp"

namespace pgas_why {

namespace {

using json = nlohmann::ordered_json;
using pgas::detail::clock;
using pgas::tools::found_socket;

constexpr std::chrono::milliseconds patience{1500};
/// The time limit for a PE's answer about itself alone.
constexpr std::chrono::milliseconds answer_limit{1100};
/// A stopped PE accepts a connection and does not answer. If the first answers are late, further PEs are asked, up to
/// this number. Each of these PEs asks all PEs.
constexpr std::size_t most_asked = 4;
constexpr std::chrono::milliseconds late{500};
/// The limit for the answers of a job. A PE may send 256 KiB.
constexpr std::size_t most_text = std::size_t{64} << 20;

/// Whether the listening process belongs to this user, or this process is root.
bool is_ours(int fd) {
  const auto owner = pgas::detail::peer_credentials(fd);
  return owner && (owner->uid == ::geteuid() || ::geteuid() == 0);
}

bool is_pid(const std::string& wanted) {
  return !wanted.empty() && wanted.size() < 8 && wanted.find_first_not_of("0123456789") == std::string::npos;
}

/// Reads one packet of a PE into `found`. Returns whether the packet has the form of a PE's packet.
bool take(json& found, std::set<int>& answered, std::size_t& text, std::string_view packet,
          pgas::detail::question what) {
  text += packet.size();
  if (text > most_text) return false;
  try {
    json said = json::parse(packet);
    if (said.contains("pes")) {
      const std::vector<pe_state> pes = introduced(said);
      if (pes.empty()) return false;
      if (!found.contains("pes")) found["pes"] = std::move(said["pes"]);  // otherwise already known
      return true;
    }
    if (!found.contains("pes")) return false;
    const int pe = said.at("pe").get<int>();
    if (pe < 0 || static_cast<std::size_t>(pe) >= found["pes"].size()) return false;
    pe_state read;
    if (what == pgas::detail::question::waits) read_answer(read, said);
    if (answered.insert(pe).second) found["answers"].push_back(std::move(said));
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace

std::optional<std::pair<std::string, int>> parse_name(std::string_view name) {
  constexpr std::string_view prefix = pgas::detail::question_socket_prefix;
  constexpr std::string_view digits = "0123456789";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  constexpr std::size_t length = 16;
  if (name.size() < length + 2 || name.size() > length + 8 || name[length] != '-') return std::nullopt;
  const std::string_view job = name.substr(0, length);
  const std::string_view number = name.substr(length + 1);
  if (job.find_first_not_of("0123456789abcdef") != job.npos) return std::nullopt;
  if (number.find_first_not_of(digits) != number.npos || (number[0] == '0' && number.size() > 1)) return std::nullopt;
  return std::pair(std::string(job), std::stoi(std::string(number)));
}

std::vector<job> find_jobs(const std::string& directory) {
  // A set, because another user can have a socket for the same PE.
  std::map<std::string, std::set<std::pair<int, found_socket>>> found;
  for (const found_socket& socket : pgas::tools::find_sockets(pgas::detail::question_socket_prefix, directory))
    if (const auto parsed = parse_name(socket.name)) found[parsed->first].emplace(parsed->second, socket);
  std::vector<job> jobs;
  for (const auto& [name, sockets] : found) {
    jobs.push_back({name, {}});
    for (const auto& [pe, socket] : sockets) jobs.back().sockets.push_back(socket);
  }
  return jobs;
}

bool may_be(const std::string& wanted, const job& item) { return is_pid(wanted) || item.name.starts_with(wanted); }

bool is(const std::string& wanted, const json& pes) {
  return !is_pid(wanted) || std::ranges::any_of(pes, [&](const json& item) {
    return item.at("here").get<bool>() && std::to_string(item.at("pid").get<pid_t>()) == wanted;
  });
}

json ask(const job& whom, pgas::detail::question what) {
  const std::string_view word = pgas::detail::question_words[static_cast<std::size_t>(what)];
  std::vector<pgas::detail::unique_fd> asked;
  std::size_t next = 0;   // the index of the next socket
  std::size_t times = 0;  // the number of PEs that were asked
  const auto ask_another = [&] {
    while (next < whom.sockets.size() && times < most_asked) {
      pgas::detail::connect_result to = pgas::detail::connect_to(whom.sockets[next++].address());
      if (!to.fd || !is_ours(to.fd.get())) continue;
      if (pgas::detail::send_packet(to.fd.get(), std::as_bytes(std::span(word)), {}, {}) != 0) continue;
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
  std::size_t text = 0;
  while ((!found.contains("pes") || answered.size() < found["pes"].size()) && clock::now() < end) {
    if (asked.empty() || clock::now() >= ask_next) {
      ask_another();
      ask_next = clock::now() + late;
    }
    if (asked.empty()) break;
    std::vector<pollfd> ready;
    for (const auto& item : asked) ready.push_back({item.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min(end, times < most_asked && next < whom.sockets.size() ? ask_next : end) - clock::now());
    if (::poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = ready.size(); i-- > 0;) {
      if (ready[i].revents == 0) continue;
      const pgas::detail::received_packet packet = pgas::detail::receive_packet(asked[i].get(), buffer);
      using status = pgas::detail::received_packet::status;
      if (packet.what == status::nothing_yet) continue;
      const std::string_view said(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
      if (packet.what != status::complete || !take(found, answered, text, said, what))
        asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return found;
}

std::vector<answering_pe> ask_each(const std::vector<job>& jobs) {
  using pgas::detail::question;
  const std::string_view word = pgas::detail::question_words[static_cast<std::size_t>(question::metrics)];
  std::vector<answering_pe> found;
  std::vector<pollfd> awaited;  // the descriptor is -1 if the PE has answered or will not answer
  std::vector<pgas::detail::unique_fd> sockets;
  for (const job& item : jobs)
    for (const found_socket& socket : item.sockets) {
      pgas::detail::connect_result to = pgas::detail::connect_to(socket.address());
      // EAGAIN: the queue of a stopped PE is full
      if (to.fd ? !is_ours(to.fd.get()) : to.error != EAGAIN) continue;
      const auto [job, pe] = *parse_name(socket.name);
      if (!found.empty() && found.back().job == job && found.back().pe == pe) continue;
      found.push_back({job, pe, static_cast<bool>(to.fd), {}});
      const bool asked = to.fd && pgas::detail::send_packet(to.fd.get(), std::as_bytes(std::span(word)), {}, {}) == 0;
      awaited.push_back({asked ? to.fd.get() : -1, POLLIN, 0});
      sockets.push_back(std::move(to.fd));
    }
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  const clock::time_point end = clock::now() + answer_limit;
  while (std::ranges::any_of(awaited, [](const pollfd& socket) { return socket.fd >= 0; }) && clock::now() < end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
    if (::poll(awaited.data(), awaited.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < awaited.size(); ++i) {
      if (awaited[i].fd < 0 || awaited[i].revents == 0) continue;
      using status = pgas::detail::received_packet::status;
      const pgas::detail::received_packet packet = pgas::detail::receive_packet(awaited[i].fd, buffer);
      if (packet.what == status::nothing_yet) continue;
      awaited[i].fd = -1;
      if (packet.what != status::complete) continue;
      found[i].said =
          json::parse(reinterpret_cast<const char*>(packet.bytes.data()),
                      reinterpret_cast<const char*>(packet.bytes.data()) + packet.bytes.size(), nullptr, false);
    }
  }
  return found;
}

std::vector<pe_state> ask(const job& whom, json& answers) {
  answers = ask(whom, pgas::detail::question::waits);
  if (!answers.contains("pes")) return {};
  std::vector<pe_state> pes = introduced(answers);
  for (const json& said : answers.value("answers", json::array())) read_answer(pes.at(said.at("pe")), said);
  complete(pes);
  return pes;
}

}  // namespace pgas_why
