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
/// A wait with a shorter limit gets no warning, because it ends soon.
constexpr auto shortest_limit_to_warn = std::chrono::seconds(10);
/// The longest interval between two searches for long waits.
constexpr auto most_between_looks = std::chrono::seconds(15);
/// If a call and a kernel begin to wait within this time, they count as one wait.
constexpr auto one_wait = std::chrono::seconds(2);
constexpr std::size_t most_warned = 256;
constexpr int backlog = 64;
constexpr std::size_t most_clients = 16;
constexpr auto pause_without_descriptors = std::chrono::milliseconds(200);

using stage = exchange_service::stage;

/// The name of a host without characters that JSON would need to escape.
std::string plain(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 0x21 || c > 0x7e || c == '"' || c == '\\'; }, '?');
  return name;
}

/// The time after which a wait gets a warning.
std::chrono::milliseconds warn_after(const exchange_service& exchanges, std::chrono::milliseconds wait_warning,
                                     stage now) {
  // A PE may have begun to leave long before the last PE. The limit begins only when all PEs leave.
  const std::chrono::milliseconds limit =
      now == stage::leaving ? std::chrono::milliseconds(0) : exchanges.limit_at(now);
  return limit < shortest_limit_to_warn ? wait_warning : std::min(wait_warning, limit / 2);
}

/// A sentence about the time limit that ends a wait.
std::string words_of_limit(const exchange_service& exchanges, std::chrono::milliseconds wait_warning, stage now) {
  if (now == stage::leaving) return "PGAS_JOIN_TIMEOUT ends the wait for work on streams";
  const char* const setting = now == stage::joining ? "PGAS_JOIN_TIMEOUT" : "PGAS_WAIT_TIMEOUT";
  if (warn_after(exchanges, wait_warning, now) < wait_warning) return fmt::format("Half of {} is over", setting);
  return exchanges.limit_at(now).count() == 0 ? fmt::format("The wait goes on, as {} is 0", setting)
                                              : fmt::format("{} will end the wait", setting);
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
      wait_warning_(settings.wait_warning),
      directory_(settings.socket_directory),
      job_(job) {
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
  // The PEs of a world search at different times, so that the questions of all PEs are not sent at the same time.
  next_look_ = clock::now() + time_between_looks() + time_between_looks() * peers_.me / peers_.n();
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
    text += fmt::format(R"({}{{"pid":{},"host":"{}","here":{}}})", pe == 0 ? "" : ",", one.pid, plain(one.host),
                        peers_.on_this_host(static_cast<int>(pe)));
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
  if (what == question::waits && warning_ && warning_->number == 0) {
    if (number == 0) number = ++questions_;
    warning_->number = number;
    warning_->until = now + patience;
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
  if (warning_)
    wake_at(warning_->number == 0 ? next_time(question::waits) : warning_->until);
  else if (wait_warning_.count() > 0)
    wake_at(next_look_);
  for (const client& one : clients_) {
    wake_at(one.asked && one.number == 0 ? next_time(*one.asked) : one.until);
  }
  return next;
}

void question_service::check() noexcept {
  if (wait_warning_.count() > 0 && !warning_ && clock::now() >= next_look_) {
    next_look_ = clock::now() + time_between_looks();
    attempt([this] { ask_here({nobody, 0}); });
  }
  for (const question what : {question::waits, question::stats})
    if (!clients_.empty() || warning_) attempt([&] { ask_all(what); });
  if (due_ && clock::now() >= *due_) attempt([this] { answer_here(); });
  const auto answered_by_all = [this] { return static_cast<int>(warning_->answers.size()) == peers_.n(); };
  if (warning_ && (answered_by_all() || clock::now() >= warning_->until)) attempt([this] { warn(); });
  std::erase_if(clients_, [this](const client& one) {
    const bool ends = one.answers == 0 || clock::now() >= one.until;
    if (ends && !one.asked) loop_.forget(one.socket.get());
    return ends;
  });
}

void question_service::answer_here() {
  // While the kernels' answers are incomplete, this PE answers later. If it waits in a collective of the control plane,
  // it needs no answers of kernels and answers now.
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
      find_long_waits();
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

std::chrono::milliseconds question_service::time_between_looks() const {
  const stage now = exchanges_.reached();
  std::chrono::milliseconds after = warn_after(exchanges_, wait_warning_, now);
  if (now == stage::joining)
    after = std::min(after, warn_after(exchanges_, wait_warning_, stage::joined));  // joining may end earlier
  return std::min<std::chrono::milliseconds>(after / 2, most_between_looks);
}

void question_service::find_long_waits() {
  // A collective knows the missing PEs. The call that contains the collective does not.
  const stage reached = exchanges_.reached();
  const std::chrono::milliseconds after = warn_after(exchanges_, wait_warning_, reached);
  std::vector<long_wait> waits = exchanges_.overdue(after);
  if (source_) std::ranges::move(source_->overdue(after), std::back_inserter(waits));
  const clock::time_point now = clock::now();
  std::string first;
  std::size_t more = 0;
  for (long_wait& one : waits) {
    const clock::time_point began = now - one.lasted;
    if (std::ranges::any_of(warned_, [&](clock::time_point of) { return std::chrono::abs(began - of) < one_wait; }))
      continue;
    if (warned_.size() == most_warned) warned_.erase(warned_.begin());
    warned_.push_back(began);
    if (first.empty())
      first = std::move(one.sentence);
    else
      ++more;
  }
  if (first.empty()) return;
  if (more != 0) first += fmt::format(", and {} more waits as long", more);
  warning_ = warning{std::move(first), words_of_limit(exchanges_, wait_warning_, reached), now + patience, 0, {}};
}

void question_service::warn() {
  const warning of = *std::exchange(warning_, std::nullopt);
  std::string root = source_ ? source_->root(introduction(), of.answers) : std::string();
  if (!root.empty()) root += ' ';
  log_.warn("{}. {}{}. `pgas-why {}` lists all waits of the job", of.waits, root, of.limit, ::getpid());
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
  if (warning_ && warning_->number == number)
    attempt([&] { warning_->answers.emplace_back(reinterpret_cast<const char*>(text.data()), text.size()); });
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
