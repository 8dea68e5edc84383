#include "host/compat/common/runtime.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/join_warning.hpp"

namespace pgas::compat {

namespace {

/// The data that PEs exchange before they join.
struct gathered {
  std::vector<int> hosts;  ///< for each PE: the lowest PE of its host
  bool same_program = true;
};

/// Collective. Each PE sends the program, a zero byte, and the host's identity. The identity can contain any byte.
gathered gather_facts(bootstrap& exchange, const config& settings, const std::string& program) {
  const std::string mine = program + '\0' + detail::host_identity(settings);
  const std::vector<blob> all = exchange.all_gather(std::as_bytes(std::span(mine)));
  std::map<std::string, int> first;
  gathered facts;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const std::string theirs(reinterpret_cast<const char*>(all[pe].data()), all[pe].size());
    const std::size_t end = std::min(theirs.find('\0'), theirs.size());
    facts.same_program = facts.same_program && theirs.substr(0, end) == program;
    facts.hosts.push_back(first.emplace(theirs.substr(end), static_cast<int>(pe)).first->second);
  }
  return facts;
}

/// Whether the program may expect this error, such as a bad argument or full memory.
bool is_expected(code what) {
  switch (what) {
    case code::out_of_memory:
    case code::invalid_free:
    case code::pe_out_of_range:
    case code::outside_heap:
    case code::misaligned:
    case code::invalid_argument:
    case code::not_joined: return true;
    default: return false;
  }
}

/// The name of a function of the interface. Functions that are templates for nvcc pass names such as
/// "nvshmem_barrier_all<>".
std::string_view plain_name(std::string_view function) { return function.substr(0, function.find('<')); }

/// The text of an error, such as "PGAS-E0301: p: PE 7 does not exist", without the operation's name. The log line
/// begins with the name of the C function instead.
std::string without_operation(std::string_view text) {
  constexpr std::string_view lower = "abcdefghijklmnopqrstuvwxyz_";
  const std::size_t word = text.find(": ") + 2;
  const std::size_t end = text.find_first_not_of(lower, word);
  const bool has_word = text.starts_with("PGAS-E") && end != text.npos && text.substr(end, 2) == ": ";
  return std::string(text.substr(0, has_word ? word : 0)).append(text.substr(has_word ? end + 2 : 0));
}

}  // namespace

error error_of(const std::exception& cause) {
  if (const auto* const known = dynamic_cast<const error*>(&cause)) return *known;
  if (dynamic_cast<const std::bad_alloc*>(&cause) != nullptr ||
      dynamic_cast<const std::length_error*>(&cause) != nullptr)
    return error(code::out_of_memory,
                 "this process has no host memory left for the call: pass fewer elements, or raise its limits "
                 "(ulimit -v, control groups)");
  return error(code::system, cause.what());
}

int runtime::host_map::rank(int pe) const {
  const auto self = host.begin() + pe;
  return static_cast<int>(std::count(host.begin(), self, *self));
}

int runtime::host_map::size(int pe) const {
  return static_cast<int>(std::count(host.begin(), host.end(), host[static_cast<std::size_t>(pe)]));
}

int runtime::host_map::same_rank_below(int pe, int end) const {
  const int wanted = rank(pe);
  int found = 0;
  for (int other = 0; other < end; ++other) found += rank(other) == wanted ? 1 : 0;
  return found;
}

runtime& runtime::instance() {
  static runtime* const only = new runtime;
  return *only;
}

void runtime::start(start_request request) {
  const std::lock_guard lock(mutex_);
  if (users_ > 0) {
    ++users_;
    return;
  }
  try {
    static_cast<void>(settings());
    if (settings_->heap == heap_kind::automatic) settings_->heap = request.heap;
    if (settings_->device < 0) settings_->device = request.device;
    const auto log = std::make_shared<detail::interface_log>(*settings_);
    {
      const std::lock_guard log_lock(log_mutex_);
      log_ = log;
    }
    if (request.exchange == nullptr) {
      chosen_bootstrap chosen = make_bootstrap(detail::make_bootstrap_options(*settings_));
      request.exchange = std::move(chosen.exchange);
      if (request.exchange->rank() == 0) log->write(log_level::info, "bootstrapped through " + chosen.description);
      if (const std::string warning = detail::warning_of(*request.exchange); !warning.empty())
        log->write(log_level::warn, warning);
    }
    exchange_ = std::move(request.exchange);
    my_pe_ = exchange_->rank();
    n_pes_ = exchange_->size();
    log->set_pe(my_pe_, n_pes_);
    if (my_pe_ == 0) {
      std::fputs(request.opening.c_str(), stdout);
      std::fflush(stdout);
    }
    gathered facts = gather_facts(*exchange_, *settings_, request.program);
    hosts_.host = std::move(facts.hosts);
    same_program_ = facts.same_program;
    joined_ = std::move(request.joined);
    leaving_ = std::move(request.leaving);
    users_ = 1;
    if (!request.deferred || settings_->heap == heap_kind::host) static_cast<void>(join());
  } catch (...) {
    end();
    throw;
  }
}

void runtime::stop() {
  if (is_ending()) return;  // the process is ending: an exit handler of the program has called stop()
  const std::lock_guard lock(mutex_);
  if (users_ == 0) return;
  if (users_ > 1) {
    --users_;
    return;
  }
  if (world_) static_cast<void>(world_->my_pe());  // throws in a forked child: the child has no monitor thread to stop
  std::optional<error> first;
  try {
    exit_monitor_.reset();
    if (world_) {
      if (leaving_) leaving_();
      world_->leave();
    } else if (exchange_ != nullptr) {
      exchange_->barrier();  // if a PE ends while other PEs still start, launchers report a failure
    }
  } catch (const error& failed) {
    exit_if_requested(failed);
    first = failed;
  }
  end();
  if (first) throw error(*first);
}

void runtime::abort(std::string_view reason, log_level level) noexcept {
  // A thread that joins or leaves holds the lock while it waits for other PEs. If this function cannot take the lock,
  // it uses the world without the lock. The world stays valid until the abort has ended the wait of the other thread.
  constexpr auto patience = std::chrono::milliseconds(50);
  const auto until = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex_, std::try_to_lock);
  while (!lock && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    static_cast<void>(lock.try_lock());
  }
  if (class world* const joined = current_world_.load(std::memory_order_acquire); joined != nullptr)
    detail::end_world(*joined, reason, level);
  else if (lock && world_)
    detail::end_world(*world_, reason, level);
  else if (lock && exchange_ != nullptr)
    exchange_->abort(reason);
}

namespace {

/// Set by leave_at_exit().
void (*stop_at_exit)() = nullptr;

void leave(int status, void* process) {
  runtime& run = runtime::instance();
  if (reinterpret_cast<std::intptr_t>(process) != ::getpid()) return;
  take_end_status(status);
  if (is_ending() || run.stage() == stage::none) return;
  if (status != 0) {
    run.abort(fmt::format("it exits with status {}", status));
    return;
  }
  try {
    while (!is_ending() && run.stage() != stage::none) stop_at_exit();
  } catch (const std::exception& thrown) {
    const error cause = error_of(thrown);
    exit_if_requested(cause);
    run.report("leaving at exit", cause);
  }
}

}  // namespace

void leave_at_exit(void (*stop)()) {
  watch_exit();
  if (std::exchange(stop_at_exit, stop) != nullptr) return;
  static_cast<void>(::on_exit(leave, reinterpret_cast<void*>(static_cast<std::intptr_t>(::getpid()))));
}

void runtime::global_exit(std::string_view function, int status) noexcept {
  begin_end(status);
  abort(exit_reason(function, status), log_level::info);
  end_process(status);
}

void runtime::fail(const char* function, const std::exception& cause) noexcept {
  if (const auto* const known = dynamic_cast<const error*>(&cause)) exit_if_requested(*known);
  begin_end(EXIT_FAILURE);  // if several threads fail, only one logs the reason
  write_log(log_level::error, function, cause);
  global_exit(plain_name(function), EXIT_FAILURE);
}

enum stage runtime::stage() const noexcept {
  if (current_world_.load(std::memory_order_acquire) != nullptr) return compat::stage::joined;
  const std::lock_guard lock(mutex_);
  return users_ > 0 ? compat::stage::bootstrapped : compat::stage::none;
}

class world& runtime::join() {
  const std::lock_guard lock(mutex_);
  check_started();
  if (world_) return *world_;
  if (failure_) throw error(*failure_);
  try {
    world_.emplace(world::join(std::move(exchange_), *settings_));
    exit_monitor_.emplace(*world_);
    make_teams();
    if (joined_) joined_(*world_);
  } catch (const std::exception& cause) {
    exit_monitor_.reset();
    if (world_) {
      detail::end_world(*world_, error_of(cause).what());
      if (leaving_) leaving_();
    }
    teams_.clear();
    predefined_ = {};
    world_.reset();
    failure_ = error_of(cause);
    throw error(*failure_);
  }
  current_world_.store(&*world_, std::memory_order_release);
  return *world_;
}

void runtime::make_teams() {
  predefined_[team_number::world].predefined = &world_->team();
  predefined_[team_number::shared].predefined = &world_->domain_team();
  predefined_[team_number::multicast].predefined = &world_->domain_team();
  predefined_[team_number::node].predefined = &world_->host_team();
  predefined_[team_number::same_rank_on_each_node].own = world_->team().split(hosts_.rank(my_pe_), my_pe_);
}

void runtime::check_started() const {
  if (users_ == 0)
    throw error(code::not_joined,
                "not initialized: call the init function first, and make no call after the last finalize");
}

void runtime::end() noexcept {
  exit_monitor_.reset();  // the monitor refers to the world
  current_world_.store(nullptr, std::memory_order_release);
  teams_.clear();
  predefined_ = {};
  world_.reset();
  exchange_.reset();
  failure_.reset();
  settings_.reset();
  joined_ = nullptr;
  leaving_ = nullptr;
  users_ = 0;
  my_pe_ = -1;
  n_pes_ = 0;
}

const config& runtime::settings() {
  const std::lock_guard lock(mutex_);
  if (!settings_) settings_ = config::from_environment();
  return *settings_;
}

int runtime::users() const {
  const std::lock_guard lock(mutex_);
  return users_;
}

int runtime::my_pe() {
  const std::lock_guard lock(mutex_);
  check_started();
  return my_pe_;
}

int runtime::n_pes() {
  const std::lock_guard lock(mutex_);
  check_started();
  return n_pes_;
}

int runtime::team_my_pe(int number) {
  const std::lock_guard lock(mutex_);
  if (stage() != compat::stage::joined) {
    check_started();
    switch (number) {
      case team_number::world: return my_pe_;
      case team_number::shared:
      case team_number::multicast:
      case team_number::node: return hosts_.rank(my_pe_);
      case team_number::same_rank_on_each_node: return hosts_.same_rank_below(my_pe_, my_pe_);
      default: break;
    }
  }
  return team(number).my_pe();
}

int runtime::team_n_pes(int number) {
  const std::lock_guard lock(mutex_);
  if (stage() != compat::stage::joined) {
    check_started();
    switch (number) {
      case team_number::world: return n_pes_;
      case team_number::shared:
      case team_number::multicast:
      case team_number::node: return hosts_.size(my_pe_);
      case team_number::same_rank_on_each_node: return hosts_.same_rank_below(my_pe_, n_pes_);
      default: break;
    }
  }
  return team(number).n_pes();
}

bool runtime::has_team(int number) {
  static_cast<void>(world());
  if (number < 0 || number >= team_number::first_own) return teams_.contains(number);
  return predefined_[static_cast<std::size_t>(number)].exists();
}

team_entry& runtime::find_team(int number) {
  static_cast<void>(world());
  const bool predefined = number >= 0 && number < team_number::first_own;
  return predefined && has_team(number) ? predefined_[static_cast<std::size_t>(number)] : teams_.find(number);
}

int runtime::add_team(pgas::team added, int num_contexts) {
  if (!added) return team_number::invalid;
  return teams_.add({std::move(added), nullptr, num_contexts});
}

void runtime::destroy_team(int number) {
  static_cast<void>(world());
  if (number >= 0 && number < team_number::first_own)
    throw error(code::invalid_argument, fmt::format("team {} is predefined: it is destroyed with the world", number));
  team_entry gone = teams_.take(number);
  gone.own.destroy();
}

void runtime::report(const char* function, const error& cause, log_level expected) noexcept {
  write_log(is_expected(cause.code()) ? expected : log_level::error, function, cause);
}

void runtime::warn(std::string_view text) noexcept { write_log(log_level::warn, text); }

void runtime::write_log(log_level level, const char* function, const std::exception& cause) noexcept {
  try {
    write_log(level, fmt::format("{}: {}", plain_name(function), without_operation(error_of(cause).what())));
  } catch (const std::exception&) {
    // The text of the error could not be allocated. The caller still returns a status or ends all processes.
  }
}

void runtime::write_log(log_level level, std::string_view text) noexcept {
  try {
    std::shared_ptr<detail::interface_log> log;
    {
      const std::lock_guard lock(log_mutex_);
      if (log_ == nullptr) log_ = std::make_shared<detail::interface_log>();
      log = log_;
    }
    log->write(level, text);
  } catch (const std::exception&) {
    // The log line could not be allocated, so nothing is logged.
  }
}

}  // namespace pgas::compat
