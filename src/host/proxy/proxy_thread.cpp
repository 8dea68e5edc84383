#include "host/proxy/proxy_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/thread.hpp"
#include "host/proxy/progress_engine.hpp"
#include "pgas/detail/poll_fairness.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

using std::chrono::steady_clock;

// A kernel on a GPU cannot wake the thread. After the last command, the thread therefore polls, then sleeps for short
// times, then waits.
constexpr auto poll_for = std::chrono::microseconds(50);
constexpr auto nap_for = std::chrono::milliseconds(5);
constexpr auto nap = std::chrono::microseconds(20);
constexpr auto wait_without_rings = std::chrono::milliseconds(100);
constexpr std::size_t most_awaited = 32;

}  // namespace

proxy_thread::proxy_thread(proxy_settings settings, std::unique_ptr<transport> network, memory_access& memory,
                           log::logger& logger)
    : settings_(std::move(settings)),
      bell_(settings_.bell != nullptr ? *settings_.bell : own_bell_),
      memory_(memory),
      log_(logger),
      network_(std::move(network)),
      engine_(std::make_unique<progress_engine>(settings_, *network_, memory_)) {
  bell_.proxy = network_.get();
  bell_.wake = [](void* sleeper) { static_cast<transport*>(sleeper)->wake(); };
}

proxy_thread::~proxy_thread() {
  stop(std::chrono::seconds(1));
  network_.reset();
}

blob proxy_thread::address() const { return network_->address(); }

std::string proxy_thread::transport_name() const { return network_->name(); }

void proxy_thread::connect(std::vector<blob> addresses) {
  network_->connect(std::move(addresses), *engine_);
  const std::lock_guard lock(mutex_);
  connected_ = true;
  thread_ = start_thread("pgas-proxy", [this] { run(); });
  running_ = true;
}

// ---- calls of other threads

void proxy_thread::on_thread(const std::function<void()>& task) {
  std::unique_lock lock(mutex_);
  if (!running_) return task();
  request mine{task, nullptr};
  requests_.push_back(&mine);
  has_requests_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
  network_->wake();
  changed_.wait(lock, [&] { return mine.done; });
  if (mine.thrown) std::rethrow_exception(mine.thrown);
}

void proxy_thread::run_requests(std::unique_lock<std::mutex>& lock) {
  // This function and ask_awaited(), which holds no lock, access asked_ and has_requests_ with sequential consistency.
  // Therefore either this thread sees asked_, or has_requests_ stays true for the next call.
  has_requests_.store(false);
  if (asked_.exchange(false)) awaited_ = engine_->awaited(most_awaited);
  while (!requests_.empty()) {
    const std::vector<request*> now = std::exchange(requests_, {});
    lock.unlock();
    for (request* const each : now) {
      try {
        each->task();
      } catch (...) {
        each->thrown = std::current_exception();
      }
    }
    lock.lock();
    for (request* const each : now) each->done = true;
    changed_.notify_all();
  }
}

blob proxy_thread::expose(std::uint64_t offset, void* at, std::size_t bytes) {
  std::string why_not;
  std::optional<exposed_memory> exposed;
  if (memory_.transports_may_write())
    exposed = network_->expose(at, bytes, why_not);
  else
    why_not = "the GPU does not order what network devices write";
  if (!exposed) {
    std::unique_lock lock(mutex_);
    if (!std::exchange(logged_why_not_, true))
      log_.info("{} can't access this PE's memory ({}): data is sent in messages, which costs copies", network_->name(),
                why_not);
    return {};
  }
  blob key = exposed->key;
  {
    const std::lock_guard lock(mutex_);
    own_.push_back({offset, at, std::move(*exposed)});
  }
  on_thread([&] { engine_->add_exposed(at, bytes); });
  return key;
}

void proxy_thread::add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) {
  if (pe < 0 || pe >= settings_.n)
    throw error(code::pe_out_of_range, fmt::format("memory of PE {}, but there are PEs 0 to {}", pe, settings_.n - 1),
                pe);
  if (key.empty()) return;
  on_thread([&] { engine_->add_peer_memory(pe, offset, bytes, key); });
}

void proxy_thread::remove_memory(std::uint64_t offset) {
  std::vector<own_memory> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto rest =
        std::partition(own_.begin(), own_.end(), [&](const own_memory& each) { return each.offset != offset; });
    gone.assign(std::make_move_iterator(rest), std::make_move_iterator(own_.end()));
    own_.erase(rest, own_.end());
  }
  on_thread([&] {
    engine_->remove_peer_memory(offset);
    for (const own_memory& each : gone) engine_->remove_exposed(each.at);
  });
  for (const own_memory& each : gone) network_->withdraw(each.exposed);
}

void proxy_thread::add_ring(ring& source) {
  on_thread([&] { engine_->add_ring(source); });
}

void proxy_thread::remove_ring(ring& source) {
  on_thread([&] { engine_->remove_ring(source); });
}

void proxy_thread::wake() noexcept { network_->wake(); }

proxy_statistics proxy_thread::statistics() const { return engine_->statistics(); }
command_counts proxy_thread::commands_to(int pe) const { return engine_->commands_to(pe); }

void proxy_thread::ask_awaited() noexcept {
  asked_.store(true);
  has_requests_.store(true);
  network_->wake();
}

std::vector<awaited_command> proxy_thread::awaited() {
  const std::lock_guard lock(mutex_);
  return asked_.load() ? std::vector<awaited_command>() : awaited_;  // the thread has not made the observation yet
}

// ---- the thread

void proxy_thread::run() {
  try {
    work();
  } catch (const std::exception& broken) {
    engine_->fail(settings_.me, broken.what());
  }
  // From an error until the call of stop(), the thread executes only requests to remove rings and memory.
  std::unique_lock lock(mutex_);
  while (!stopping_.load(std::memory_order_acquire)) {
    run_requests(lock);
    changed_.wait(lock, [this] { return !requests_.empty() || stopping_.load(std::memory_order_acquire); });
  }
  run_requests(lock);
  running_ = false;
}

void proxy_thread::work() {
  // Reading the clock takes as long as an idle turn, so the thread reads the clock only in some turns.
  constexpr std::uint32_t turns_per_clock_read = 16;
  std::uint32_t idle_turns = 0;
  steady_clock::time_point idle_since;
  steady_clock::time_point now;
  for (;;) {
    if (has_requests_.load(std::memory_order_relaxed)) {
      std::unique_lock lock(mutex_);
      run_requests(lock);
    }
    const bool busy = engine_->progress();
    if (stopping_.load(std::memory_order_acquire) &&
        (engine_->failed() || engine_->idle() || steady_clock::now() >= stop_by_))
      return;
    if (busy) {
      ring_bell(bell_);
      idle_turns = 0;
      continue;
    }
    if (idle_turns++ % turns_per_clock_read == 0) {
      now = steady_clock::now();
      if (idle_turns == 1) idle_since = now;
    }
    idle_wait(now - idle_since);
  }
}

void proxy_thread::idle_wait(steady_clock::duration idle) {
  const bool crowded = core_sharing::of_this_thread().crowded();
  if (engine_->acks_due() || (!crowded && (idle < poll_for || pollers_.load(std::memory_order_relaxed) != 0))) {
    if (!crowded) yield_now_and_then();
  } else if (!engine_->has_rings() && !engine_->waits_for_peers()) {
    wait(wait_without_rings);
  } else if (engine_->has_silent_rings() && !engine_->waits_for_peers() && idle < nap_for) {
    std::this_thread::sleep_for(nap);
  } else {
    const precise_timers precise;
    wait(std::chrono::nanoseconds(sleep_after(static_cast<std::uint64_t>(idle.count()))));
  }
}

void proxy_thread::wait(std::chrono::nanoseconds limit) {
  announce_sleep(bell_);
  if (!engine_->has_commands()) network_->wait(limit);
  end_sleep(bell_);
}

void proxy_thread::stop(std::chrono::milliseconds limit) noexcept {
  const steady_clock::time_point end = steady_clock::now() + limit;
  if (thread_.joinable()) {
    stop_by_ = end - limit / 2;
    {
      const std::lock_guard lock(mutex_);
      stopping_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
    network_->wake();
    thread_.join();
    log_.debug("{}", summary_of(engine_->statistics()));
  }
  if (!std::exchange(connected_, false)) return;
  engine_->finish();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - steady_clock::now());
  network_->disconnect(std::max(left, std::chrono::milliseconds(1)));
  for (const own_memory& each : own_) network_->withdraw(each.exposed);
  own_.clear();
}

}  // namespace pgas::detail
