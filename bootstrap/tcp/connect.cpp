#include "bootstrap/tcp/connect.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "bootstrap/common/socket.hpp"
#include "bootstrap/common/text.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

constexpr milliseconds time_to_connect{5000};
constexpr milliseconds between_attempts{100};

/// One candidate and how far we are with it.
class attempt {
 public:
  attempt(const address& to, const bits128& key, const hello& me) : to_(to), key_(key), me_(me) {}

  /// Begins anew where it is time to.
  void start_if_due() {
    if (socket_ || clock::now() < again_) return;
    socket_ = unique_fd{::socket(to_.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    connected_ = false;
    have_ = 0;
    connect_due_ = deadline{time_to_connect}.at();
    if (!socket_ || (::connect(socket_.get(), to_.get(), to_.length) != 0 && errno != EINPROGRESS))
      give_up(errno_text(errno));
  }

  /// Goes as far as it can without waiting; true when rank 0 is at the other end.
  [[nodiscard]] bool advance() {
    if (!socket_) return false;
    if (!connected_ && !greet()) return false;
    return hear();
  }

  [[nodiscard]] pollfd waits_for() const {
    return {.fd = socket_.get(), .events = static_cast<short>(connected_ ? POLLIN : POLLOUT), .revents = 0};
  }
  [[nodiscard]] unique_fd take() { return std::move(socket_); }
  [[nodiscard]] std::optional<code> verdict() const { return verdict_; }
  [[nodiscard]] std::string report() const { return fmt::format("{} ({})", to_.text(), problem_); }

 private:
  void give_up(std::string problem, std::optional<code> verdict = std::nullopt) {
    problem_ = std::move(problem);
    verdict_ = verdict;
    socket_.reset();
    again_ = deadline{between_attempts}.at();
  }

  [[nodiscard]] bool greet() {
    pollfd one = waits_for();
    if (::poll(&one, 1, 0) == 0) {
      if (clock::now() >= connect_due_) give_up("no answer to connecting");
      return false;
    }
    int number = 0;
    socklen_t length = sizeof number;
    (void)::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &length);
    connected_ = number == 0;
    me_.nonce = random_bits();
    if (connected_) number = send_all(socket_.get(), bytes_of(me_), deadline{milliseconds{0}});
    if (number != 0) {
      give_up(errno_text(number));
      return false;
    }
    tune_connection(socket_.get());
    problem_ = "connected, but what listens there does not answer as rank 0 of a job would";
    return true;
  }

  [[nodiscard]] bool hear() {
    const auto into = std::as_writable_bytes(std::span{&heard_, 1});
    while (have_ < into.size()) {
      const ssize_t got = ::recv(socket_.get(), into.data() + have_, into.size() - have_, 0);
      if (got < 0 && errno == EAGAIN) return false;
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        give_up(got == 0 ? "closed the connection" : errno_text(errno));
        return false;
      }
      have_ += static_cast<std::size_t>(got);
    }
    if (heard_.magic != hello::expected_magic) {
      give_up("speaks another protocol");
      return false;
    }
    if (heard_.version != hello::expected_version) {
      give_up(fmt::format("runs version {} of the protocol, this process version {}", heard_.version,
                          hello::expected_version),
              code::version_mismatch);
      return false;
    }
    // Sent in any case: without the secret it only lets rank 0 tell people why this rank is missing.
    const bits128 proof = handshake_code(key_, handshake_side::member, me_, heard_.nonce);
    const int number = send_all(socket_.get(), proof, deadline{milliseconds{0}});
    if (!same_bits(heard_.code, handshake_code(key_, handshake_side::rank0, me_, heard_.nonce)))
      give_up("has another secret than this process", code::authentication);
    else if (number != 0)
      give_up(errno_text(number));
    return static_cast<bool>(socket_);
  }

  address to_;
  bits128 key_;
  hello me_;
  unique_fd socket_;
  bool connected_ = false;
  challenge heard_;
  std::size_t have_ = 0;
  clock::time_point again_{};
  clock::time_point connect_due_{};
  std::string problem_ = "not tried";
  std::optional<code> verdict_;
};

[[noreturn]] void report_failure(const std::vector<attempt>& attempts, std::string_view problem, const hello& me,
                                 milliseconds allowed) {
  constexpr std::size_t most_reported = 20;
  std::string tried;
  code why = code::bootstrap_timeout;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (i < most_reported) tried += (i == 0 ? "" : ", ") + attempts[i].report();
    if (attempts[i].verdict()) why = *attempts[i].verdict();
  }
  if (attempts.empty()) tried = problem;
  throw error{
      why,
      fmt::format("rank {} of {} did not reach rank 0 within {}; tried {}. Check that rank 0 was started with the "
                  "same address, port, run id and secret, and that no firewall is between",
                  me.rank, me.size, seconds(allowed), tried),
      0};
}

}  // namespace

void tune_connection(int socket) {
  const auto set = [socket](int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof value);  // each is an improvement, none is needed
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

unique_fd reach_rank0(const candidates& where, const bits128& key, hello me, const deadline& limit) {
  const milliseconds allowed = limit.left();
  std::vector<attempt> attempts;
  std::string problem = "nothing";
  do {
    if (attempts.empty())
      for (const address& to : where(problem, limit)) attempts.emplace_back(to, key, me);
    std::vector<pollfd> waiting;
    for (attempt& one : attempts) {
      one.start_if_due();
      if (one.advance()) return one.take();
      waiting.push_back(one.waits_for());  // an idle one has descriptor -1, which poll() skips
    }
    const auto nap = std::min(limit.left(), between_attempts);
    (void)::poll(waiting.data(), waiting.size(), static_cast<int>(nap.count()));
  } while (!limit.expired());
  report_failure(attempts, problem, me, allowed);
}

}  // namespace pgas::boot
