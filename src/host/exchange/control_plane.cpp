#include "host/exchange/control_plane.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "common/net/address.hpp"
#include "common/process_identity.hpp"
#include "host/connect/join_tree.hpp"
#include "host/failure/signal_bell.hpp"

namespace pgas::detail {

/// The parts of a control plane. Each part uses the parts before it.
struct control_plane_parts {
  control_plane_parts(bootstrap& exchange, const config& settings, log::logger& log,
                      control_plane::failure_callback on_failure)
      : bell(settings.sigusr1 ? std::make_unique<signal_bell>(log) : nullptr),
        tree(join_tree(exchange, settings, log)),
        links(loop, tree.peers, std::move(tree.sockets), [this](int pe, int why) { cannot_send(pe, why); }),
        failures(log,
                 {.tell_peers = [this](const error& cause) { exchanges.tell_neighbours(cause); },
                  .on_failure = std::move(on_failure),
                  .wake = [this] { exchanges.wake(); }},
                 error(code::system, describe_me() + " ran out of host memory: run fewer PEs on this host", me())),
        exchanges(loop, links, tree.peers, failures, settings, log),
        questions(loop, links, exchanges, bell.get(), settings, tree.job, log),
        reader(loop, links, tree.peers, failures, exchanges, questions, tree.peer_timeout) {
    reader.start();
  }
  ~control_plane_parts() { reader.stop(); }
  control_plane_parts(const control_plane_parts&) = delete;
  control_plane_parts& operator=(const control_plane_parts&) = delete;

  [[nodiscard]] int me() const noexcept { return tree.peers.me; }
  [[nodiscard]] std::string describe_me() const { return tree.peers.describe(me()); }
  /// Fails the world on the reader's thread, because the caller can hold locks.
  void cannot_send(int pe, int why) {
    loop.post([this, pe, why] {
      failures.set(
          error(code::system,
                fmt::format("{} could not send to {}: {}", describe_me(), tree.peers.describe(pe), std::strerror(why)),
                me()));
    });
  }

  const std::unique_ptr<signal_bell> bell;  ///< made before other PEs can send the signal
  event_loop loop;
  joined_tree tree;
  tree_links links;
  world_failure failures;
  exchange_service exchanges;
  question_service questions;
  tree_reader reader;
};

control_plane::control_plane(bootstrap& exchange, const config& settings, log::logger& log, failure_callback on_failure)
    : control_plane(std::make_shared<control_plane_parts>(exchange, settings, log, std::move(on_failure))) {}
control_plane::control_plane(std::shared_ptr<control_plane_parts> parts)
    : control_group(std::shared_ptr<exchange_service>(parts, &parts->exchanges), control_group::world,
                    every_pe(parts->tree.peers.peers.size())),
      parts_(std::move(parts)) {}
control_plane::~control_plane() = default;

void control_plane::joined() noexcept { parts_->exchanges.joined(); }
void control_plane::await_leave() { parts_->exchanges.await_leave(); }
void control_plane::leave() {
  parts_->exchanges.leave();
  parts_->reader.stop();
}

void control_plane::set_wait_source(wait_source source) {
  parts_->loop.post(
      [parts = parts_.get(), source = std::move(source)]() mutable { parts->questions.set_source(std::move(source)); });
}

void control_plane::fail(std::string_view reason, log_level level) noexcept {
  try {
    parts_->failures.set(
        error(code::aborted, fmt::format("{} aborted the world: {}", parts_->describe_me(), reason), parts_->me()),
        level);
  } catch (const std::exception&) {
    parts_->failures.set_out_of_memory();
  }
}

void control_plane::fail(const error& cause) noexcept { parts_->failures.set(cause); }
void control_plane::on_launcher_report(int pe, std::string_view how) {
  parts_->reader.on_launcher_report(pe, std::string(how));
}
void control_plane::check() const { parts_->failures.check(); }
bool control_plane::failed() const noexcept { return parts_->failures.failed(); }
control_statistics control_plane::statistics() const { return parts_->reader.statistics(); }

int control_plane::stopped_pe() const {
  const peer_table& peers = parts_->tree.peers;
  for (int pe = 0; pe < peers.n(); ++pe) {
    if (pe == peers.me || !peers.at(pe).pid_is_valid_here) continue;
    const std::optional<process_status> process = status_of(peers.at(pe).pid);
    if (process && process->stopped()) return pe;
  }
  return -1;
}

std::vector<std::string> control_plane::interfaces() const {
  std::vector<std::string> names;
  for (const auto& [pe, one] : parts_->links.all()) {
    std::string name = one.remote ? interface_of(one.to->fd()) : std::string();
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace pgas::detail
