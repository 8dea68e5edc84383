#include "host/world/links.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "host/world/hello.hpp"
#include "host/world/links_state.hpp"
#include "host/world/rendezvous.hpp"

namespace pgas::detail {

namespace {

/// PEs that failed to connect tell all others, so that every PE throws the same error: the most telling one.
void agree_on_outcome(bootstrap& exchange, const std::optional<error>& mine) {
  const std::vector<blob> all = exchange.all_gather(mine ? encode_error(*mine) : blob());
  std::optional<error> chosen;
  const auto weight = [](const error& e) {
    // That somebody is missing is what the others notice when one PE fails for a reason of its own.
    return e.code() == code::peer_lost ? 0 : e.code() == code::bootstrap_timeout ? 1 : 2;
  };
  for (const blob& bytes : all) {
    if (bytes.empty()) continue;
    const error theirs = decode_error(bytes);
    if (!chosen || weight(theirs) > weight(*chosen)) chosen = theirs;
  }
  if (chosen) throw error(*chosen);
}

std::vector<peer_info> make_peers(const std::vector<hello>& all) {
  std::vector<peer_info> peers;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const auto before = std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(pe),
                                      [&](const hello& other) { return other.boot_id == all[pe].boot_id; });
    peers.push_back({all[pe].host, std::stoi(all[pe].pid), static_cast<int>(before)});
  }
  return peers;
}

std::vector<int> everyone(int n) {
  std::vector<int> pes(static_cast<std::size_t>(n));
  std::iota(pes.begin(), pes.end(), 0);
  return pes;
}

}  // namespace

links_state::links_state(bootstrap& exchange, const config& settings, log::logger& logger,
                         links::failure_callback callback)
    : me(exchange.rank()), wait_timeout(settings.wait_timeout), log(logger), on_failure(std::move(callback)) {
  const int size = exchange.size();
  if (size < 1 || me < 0 || me >= size)
    throw error(code::bootstrap_protocol, fmt::format("the bootstrap says that this is PE {} of {}", me, size));
  hello mine = make_hello(settings.socket_directory);
  std::optional<unix_listener> listener;
  if (size > 1) {
    // Before the introductions: whoever knows the name can connect at once. A failure is part of the introduction, so
    // that nobody waits for this PE.
    try {
      listener.emplace(unix_address(settings.socket_directory, mine.socket_name), size + 64);
    } catch (const error& why) {
      mine.failure = text_of(why);
    }
  }
  const std::vector<blob> answers = exchange.all_gather(encode(mine));
  if (answers.size() != static_cast<std::size_t>(size))
    throw error(code::bootstrap_protocol,
                fmt::format("the bootstrap's all_gather returned {} contributions for {} PEs", answers.size(), size));
  const std::vector<hello> all = decode_hellos(answers);
  if (const std::optional<error> why = obstacle(all)) throw error(*why);
  peers = make_peers(all);
  said_bye.assign(all.size(), false);
  ended.assign(all.size(), false);
  sockets.resize(all.size());
  if (size == 1) return;

  std::optional<error> failed_here;
  try {
    sockets = connect_all(all, me, *listener, settings, log);
    wake = unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake) throw error(code::system, fmt::format("eventfd: {}", std::strerror(errno)));
  } catch (const error& why) {
    failed_here = why;
  }
  listener.reset();
  agree_on_outcome(exchange, failed_here);
  start_reader();
}

links_state::~links_state() { stop_reader(); }

void links_state::begin_group(link_group::identity id, std::span<const int> members) {
  const std::lock_guard lock(mutex);
  groups[id].set_members(members);
}

void links_state::end_group(link_group::identity id) noexcept {
  const std::lock_guard lock(mutex);
  groups.erase(id);
}

link_group::identity links_state::new_group() noexcept {
  constexpr int number_bits = 40;  // distinct by the PE that proposes it, then by its own count
  return (static_cast<link_group::identity>(me) + 1) << number_bits | groups_made++;
}

void links_state::check() const {
  if (!failed.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex);
  throw error(*failure);
}

links::links(bootstrap& exchange, const config& settings, log::logger& log, failure_callback on_failure)
    : links(std::make_shared<links_state>(exchange, settings, log, std::move(on_failure))) {}
links::links(std::shared_ptr<links_state> state)
    : link_group(state, link_group::world, everyone(state->n())), state_(std::move(state)) {}
links::~links() = default;

void links::leave() { state_->leave(); }

void links::fail(const std::string& reason) noexcept {
  try {
    state_->set_failure(
        error(code::aborted, fmt::format("{} aborted the world: {}", state_->describe(state_->me), reason), state_->me),
        links_state::origin::here);
  } catch (const std::bad_alloc&) {
    state_->set_failure(error(code::aborted, "aborted", state_->me), links_state::origin::here);
  }
}

void links::check() const { state_->check(); }
bool links::failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }

}  // namespace pgas::detail
