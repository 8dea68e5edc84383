#include "host/failure/question_service.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "common/system_error.hpp"
#include "common/unforked_fd.hpp"
#include "host/exchange/exchange_service.hpp"
#include "host/failure/signal_bell.hpp"

namespace pgas::detail {

namespace {

/// The time limit for answers. A stopped PE never answers.
constexpr auto patience = std::chrono::milliseconds(1100);
constexpr int backlog = 64;
constexpr std::size_t most_clients = 16;
constexpr auto pause_without_descriptors = std::chrono::milliseconds(200);

/// The name of a host without characters that JSON would need to escape.
std::string plain(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 0x21 || c > 0x7e || c == '"' || c == '\\'; }, '?');
  return name;
}

}  // namespace

question_service::question_service(event_loop& loop, tree_links& links, const exchange_service& exchanges,
                                   signal_bell* bell, const config& settings, std::uint64_t job, log::logger& log)
    : loop_(loop),
      links_(links),
      exchanges_(exchanges),
      peers_(exchanges.peers()),
      bell_(bell),
      log_(log),
      directory_(settings.socket_directory),
      job_(job),
      warning_(exchanges, settings.wait_warning, log) {
  try {
    listener_.emplace(unix_address(directory_, name_of(peers_.me)), backlog);
    close_after_fork(listener_->fd());  // a child that outlives this process must not accept connections
  } catch (const error& why) {
    log_.info("pgas-why can't ask PE {}: {}", peers_.me, why.what());
  }
}

template <class Step>
void question_service::attempt(Step&& step) noexcept {
  try {
    step();
  } catch (const std::exception& why) {  // a world works without this service
    log_.warn("PE {} could not answer a question: {}", peers_.me, why.what());
  }
}

std::string question_service::name_of(int pe) const {
  return fmt::format("{}{:016x}-{}", question_socket_prefix, job_, pe);
}

void question_service::on_end(int pe) noexcept {
  if (directory_.empty() || !peers_.on_this_host(pe)) return;
  attempt([&] { ::unlink(unix_address(directory_, name_of(pe)).path().c_str()); });
}

question_service::~question_service() {
  if (listener_) keep_after_fork(listener_->fd());
}

void question_service::start() {
  warning_.start(peers_.me, peers_.n());
  if (listener_) loop_.watch(listener_->fd(), POLLIN, [this](short) { attempt([this] { accept(); }); });
  if (bell_ && bell_->fd() >= 0)
    loop_.watch(bell_->fd(), POLLIN, [this](short) {
      bell_->silence();
      attempt([this] { ask_here({the_log, 0}); });
    });
}

std::string question_service::introduction() const {
  std::string text = fmt::format(R"({{"pe":{},"pes":[)", peers_.me);
  for (std::size_t pe = 0; pe < peers_.peers.size(); ++pe) {
    const peer_info& one = peers_.peers[pe];
    text += fmt::format(R"({}{{"pid":{},"host":"{}","here":{}}})", pe == 0 ? "" : ",", one.pid,
                        plain(std::string(one.host)), peers_.on_this_host(static_cast<int>(pe)));
  }
  return text + "]}";
}

void question_service::accept() {
  for (;;) {
    connect_result next = listener_->accept();
    if (!next.fd) {
      if (next.error == 0) return;
      loop_.pause(listener_->fd(), pause_without_descriptors);
      if (!std::exchange(full_, true))
        log_.warn("PE {} cannot answer pgas-why: {}; raise its limit (ulimit -n)", peers_.me, errno_text(next.error));
      return;
    }
    full_ = false;
    const std::optional<socket_owner> owner = peer_credentials(next.fd.get());
    if (!owner || (owner->uid != ::geteuid() && owner->uid != 0)) {
      if (!std::exchange(refused_, true))
        log_.warn("PE {} does not answer user {}, who asked what it does", peers_.me,
                  owner ? static_cast<std::int64_t>(owner->uid) : -1);
      continue;
    }
    if (clients_.size() == most_clients) continue;  // the connection is closed, and the program asks again
    const int fd = next.fd.get();
    clients_.push_back({std::move(next.fd), clock::now() + patience, peers_.n(), 0, std::nullopt});
    loop_.watch(fd, POLLIN, [this, fd](short) { attempt([this, fd] { read_word(fd); }); });
  }
}

void question_service::read_word(int fd) {
  const auto by = std::ranges::find_if(clients_, [fd](const client& one) { return one.socket.get() == fd; });
  std::array<std::byte, 16> word;
  const received_packet packet = receive_packet(fd, word);
  if (packet.what == received_packet::status::nothing_yet) return;
  loop_.forget(fd);
  if (by == clients_.end()) return;
  const std::string_view said(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
  const auto known = std::ranges::find(question_words, said);
  if (packet.what == received_packet::status::complete && known != std::end(question_words)) {
    by->asked = static_cast<question>(known - std::begin(question_words));
    if (by->asked != question::metrics) return send(*by, introduction());
    by->answers = 0;  // only this PE answers
    return send(*by, own_answer(source_ ? source_->metrics() : std::string()));
  }
  by->answers = 0;  // the connection is closed
}

void question_service::ask_all(question what) {
  const clock::time_point now = clock::now();
  if (now < next_time(what)) return;
  std::uint64_t number = 0;
  for (client& one : clients_) {
    if (one.asked != what || one.number != 0 || one.answers == 0) continue;
    if (number == 0) number = ++questions_;
    one.number = number;
    one.until = now + patience;
  }
  if (what == question::waits && warning_.needs_question()) {
    if (number == 0) number = ++questions_;
    warning_.on_asked(number, now + patience);
  }
  if (number == 0) return;
  last_asked_[static_cast<std::size_t>(what)] = now;
  outgoing_message question = message_of(message_kind::question, peers_.me);
  question.header.group = static_cast<std::uint64_t>(what);
  question.header.sequence = number;
  links_.offer_to_neighbours(question);
  on_question(peers_.me, number, what);
}

void question_service::on_question(int pe, std::uint64_t number, question what) noexcept {
  attempt([&] {
    if (what == question::waits) return ask_here({pe, number});
    answer_to({pe, number}, own_answer(source_ ? source_->stats() : std::string()));
  });
}

std::string question_service::own_answer(const std::string& fields) const {
  return fmt::format(R"({{"pe":{},{}}})", peers_.me, fields.empty() ? R"("joining":true)" : fields);
}

void question_service::ask_here(asker who) {
  askers_.push_back(who);
  if (due_) return;  // all PEs that ask before the answer is sent get the same answer
  if (source_) source_->ask();
  due_ = clock::now() + time_to_answer;
  last_due_ = clock::now() + most_time_to_answer;
}

std::optional<clock::time_point> question_service::next_wake() const {
  std::optional<clock::time_point> next = due_;
  const auto wake_at = [&next](clock::time_point when) { next = next ? std::min(*next, when) : when; };
  if (warning_.needs_question())
    wake_at(next_time(question::waits));
  else if (const auto at = warning_.next_wake())
    wake_at(*at);
  for (const client& one : clients_) {
    wake_at(one.asked && one.number == 0 ? next_time(*one.asked) : one.until);
  }
  return next;
}

void question_service::check() noexcept {
  if (warning_.begin_search()) attempt([this] { ask_here({nobody, 0}); });
  for (const question what : {question::waits, question::stats})
    if (!clients_.empty() || warning_.needs_question()) attempt([&] { ask_all(what); });
  if (due_ && clock::now() >= *due_) attempt([this] { answer_here(); });
  if (warning_.is_complete(peers_.n()))
    attempt([this] {
      warning_.log_it([this](const std::vector<std::string>& answers) {
        return source_ ? source_->root(introduction(), answers) : std::string();
      });
    });
  std::erase_if(clients_, [this](const client& one) {
    const bool ends = one.answers == 0 || clock::now() >= one.until;
    if (ends && !one.asked) loop_.forget(one.socket.get());
    return ends;
  });
}

void question_service::answer_here() {
  // While the answers of kernels are incomplete, this PE answers later. But if this PE waits in a collective of the
  // control plane, it answers now, because it needs no answers of kernels.
  if (source_ && clock::now() < last_due_ && !source_->settled() &&
      exchanges_.overdue(std::chrono::milliseconds(0)).empty()) {
    due_ = clock::now() + time_to_answer;
    return;
  }
  due_.reset();
  const std::string fields = source_ ? source_->answer() : R"("joining":true)";
  std::string text = fmt::format(R"({{"pe":{},{},{}}})", peers_.me, fields, exchanges_.describe());
  if (text.size() > max_contribution)  // peers do not accept a longer text
    text = fmt::format(R"({{"pe":{},"too_long":true}})", peers_.me);
  for (const asker& who : std::exchange(askers_, {})) {
    if (who.pe == nobody) {
      warning_.search(source_ ? source_->overdue : nullptr);
      continue;
    }
    if (who.pe == the_log) {
      log_waits();
      continue;
    }
    answer_to(who, text);
  }
}

void question_service::answer_to(asker who, const std::string& text) {
  const std::span<const std::byte> body = std::as_bytes(std::span(text));
  if (who.pe == peers_.me) return on_answer(who.number, body);
  outgoing_message answer = message_of(message_kind::answer, peers_.me, who.pe, blob(body.begin(), body.end()));
  answer.header.sequence = who.number;
  links_.offer(answer);
}

void question_service::log_waits() {
  constexpr std::size_t most = 16;
  const std::vector<std::string> waits = source_ ? source_->sentences() : std::vector<std::string>();
  for (std::size_t i = 0; i < std::min(most, waits.size()); ++i) log_.warn("SIGUSR1: {}", waits[i]);
  if (waits.size() > most) log_.warn("SIGUSR1: and {} more waits", waits.size() - most);
  const std::vector<long_wait> collectives = exchanges_.overdue(std::chrono::milliseconds(0));
  for (const long_wait& one : collectives) log_.warn("SIGUSR1: {}", one.sentence);
  if (waits.empty() && collectives.empty())
    log_.warn("SIGUSR1: {}", source_ ? "this PE waits for nothing in this world" : "this PE still joins");
}

void question_service::on_answer(std::uint64_t number, std::span<const std::byte> text) noexcept {
  attempt([&] { warning_.on_answer(number, {reinterpret_cast<const char*>(text.data()), text.size()}); });
  for (client& one : clients_) {  // finds no client if the answer is late
    if (one.number != number || one.answers == 0) continue;
    send(one, {reinterpret_cast<const char*>(text.data()), text.size()});
    if (one.answers > 0) --one.answers;
  }
}

void question_service::send(client& to, std::string_view text) noexcept {
  // The PE does not wait for a client that does not read.
  if (send_packet(to.socket.get(), std::as_bytes(std::span(text)), {}, {}) != 0) to.answers = 0;
}

}  // namespace pgas::detail
