#include "host/share/event_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "common/process_identity.hpp"
#include "host/log/logger.hpp"
#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// Which file system /dev/shm is; two containers with one of their own each have different ones. Zeros where there is
/// none.
std::pair<std::uint64_t, std::uint64_t> shm_identity() {
  struct stat about {};
  if (::stat("/dev/shm", &about) != 0) return {0, 0};
  return {about.st_dev, about.st_ino};
}

/// Events that were destroyed while other processes had them open: CUDA's wait for one that is gone has no end.
class kept_events {
 public:
  static kept_events& of_process() {
    static auto& one = *new kept_events;  // never destroyed: objects of the program may outlive it
    return one;
  }
  void keep(std::shared_ptr<event_state> event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  /// Destroys the events that no other process has open.
  void clean_up() noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(events_, [](const std::shared_ptr<event_state>& event) {
      const std::lock_guard memory(event->mutex());
      return !event->is_of_this_process() || event->shared().mine().opened_by().empty();
    });
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<event_state>> events_;
};

/// How an event is destroyed when the program's last object of it is.
void retire(event_state* last) noexcept {
  if (!last->is_of_this_process()) return;  // a child of fork() has no CUDA to destroy it with
  std::shared_ptr<event_state> event(last);
  if (!event->shared().is_mine()) return;
  event->set_destroyed();
  kept_events::of_process().keep(std::move(event));
  kept_events::of_process().clean_up();
}

std::shared_ptr<event_state> share(shared_page page, std::unique_ptr<device_event> event) {
  return {new event_state(std::move(page), std::move(event)), retire};
}

}  // namespace

std::shared_ptr<event_state> event_state::make(memory_place place) {
  if (place == memory_place::host())
    throw error(code::device_unavailable,
                "interprocess events are CUDA's, the host has none: make a pgas::timeline, which is for both");
  kept_events::of_process().clean_up();
  auto event = make_device_event(place.ordinal);
  shared_page shared = shared_page::make(ticket_kind::event, sizeof(event_page));
  auto* page = ::new (shared.data()) event_page{};
  page->uuid = uuid_of_gpu(place.ordinal);
  page->handle = event->handle();
  std::tie(page->shm_device, page->shm_inode) = shm_identity();
  return share(std::move(shared), std::move(event));
}

std::shared_ptr<event_state> event_state::open(std::string_view ticket, const open_options& options) {
  shared_page shared =
      shared_page::open(ticket_kind::event, decode(ticket, ticket_kind::event), sizeof(event_page), options);
  const auto* page = static_cast<const event_page*>(shared.data());
  const memory_exporter& maker = shared.exporter();
  if (load_relaxed(&page->destroyed) != 0)
    throw error(code::peer_lost, fmt::format("process {} on {} has destroyed the event", maker.pid, maker.host));
  if (std::pair(page->shm_device, page->shm_inode) != shm_identity())
    throw error(code::peer_unreachable,
                fmt::format("process {} on {} and this one see different /dev/shm, where CUDA keeps interprocess "
                            "events: start both containers with one IPC namespace (--ipc=host, --ipc=container:ID), "
                            "or use a pgas::timeline, which needs none",
                            maker.pid, maker.host));
  const std::optional<int> ordinal = find_gpu(page->uuid);
  if (!ordinal)
    throw error(code::device_unavailable,
                "the event is of a GPU that this process does not see (CUDA_VISIBLE_DEVICES may hide it)");
  auto event = open_device_event(*ordinal, page->handle);
  return share(std::move(shared), std::move(event));
}

event_state::event_state(shared_page shared, std::unique_ptr<device_event> event)
    : shared_(std::move(shared)),
      event_(std::move(event)),
      page_(static_cast<event_page*>(shared_.data())),
      me_(this_process_name()) {}

event_state::~event_state() {
  if (watch_ != nullptr && owner_.in_creator()) watch_->remove(*this);
}

void event_state::set_destroyed() noexcept { store_release(&page_->destroyed, std::uint64_t{1}); }

std::uint64_t event_state::records() const { return load_relaxed(&page_->records); }

std::uint64_t event_state::record(void* stream) {
  check_maker();
  event_->record(stream);
  if (load_relaxed(&page_->recorder) != me_) store_relaxed(&page_->recorder, me_);
  return fetch<rmw::add>(&page_->records, std::uint64_t{1}) + 1;
}

void event_state::wait(void* stream) {
  check_recorded();
  watch();
  lost_ = 0;
  awaited_ = true;
  event_->wait(stream);
}

bool event_state::reached() {
  check_recorded();
  return event_->reached();
}

void event_state::check() {
  check_maker();
  if (const pid_t lost = lost_)
    throw error(code::peer_lost,
                fmt::format("process {} has ended before a stream had reached its record: waits for it went on", lost));
}

void event_state::check_maker() {
  if (shared_.is_mine()) return;
  const std::lock_guard lock(mutex_);
  const memory_exporter& maker = shared_.exporter();
  const bool destroyed = load_relaxed(&page_->destroyed) != 0;
  if (destroyed || !shared_.alive())
    throw error(code::peer_lost,
                fmt::format("process {} on {}, which made the event, {}: a wait for it could last for ever", maker.pid,
                            maker.host, destroyed ? "has destroyed it" : "has ended"));
}

void event_state::check_recorded() {
  check_maker();
  if (records() == 0)
    throw error(code::invalid_argument,
                "the event was never recorded, so that a wait for it would wait for nothing: wait for records() > 0 "
                "first, or use a pgas::timeline, whose waits are for a value");
}

std::optional<pid_t> event_state::find_lost_recorder() {
  const std::uint64_t recorder = load_relaxed(&page_->recorder);
  if (recorder == 0 || recorder == me_) return std::nullopt;
  const pid_t pid = pid_in(recorder);
  const std::lock_guard lock(mutex_);
  if (!shared_.is_mine() && pid == shared_.exporter().pid)
    return shared_.alive() ? std::nullopt : std::optional<pid_t>(pid);
  if (process_name(pid) == recorder) return std::nullopt;
  // It has ended, or is of another PID namespace: then its connection tells.
  if (!shared_.is_mine()) return shared_.alive() ? std::nullopt : std::optional<pid_t>(pid);
  const std::vector<opener> now = shared_.mine().opened_by();
  return std::ranges::find(now, pid, &opener::pid) == now.end() ? std::optional<pid_t>(pid) : std::nullopt;
}

void event_state::watch() {
  auto one = wait_watch::of_process();
  {
    const std::lock_guard lock(mutex_);
    if (watch_ != nullptr) return;
    watch_ = one;
  }
  one->add(*this);
}

bool event_state::may_wait() const {
  try {
    return !event_->reached();
  } catch (const error&) {
    return true;  // the driver has nothing to say of an event whose recorder has ended
  }
}

void event_state::look() noexcept {
  try {
    if (!awaited_ || !may_wait()) return;
    const auto lost = find_lost_recorder();
    if (!lost) return;
    const bool first = lost_.exchange(*lost) != *lost;
    try {
      event_->release_waits();
      awaited_ = false;
      if (first)
        log::logger(log_level::warn)
            .error(
                "process {} has ended while streams of a GPU waited for an interprocess event that it had recorded; it "
                "was recorded in its place. A stream that waits on all the same ends with its program: where programs "
                "may die, use a timeline",
                *lost);
    } catch (const error& failed) {
      if (first)
        log::logger(log_level::warn)
            .error(
                "process {} has ended while streams of a GPU waited for an interprocess event that it had recorded, "
                "and they can't be told: {}",
                *lost, failed.what());
    }
  } catch (const std::exception&) {
    // The system refuses to say who runs: the next look asks again.
  }
}

}  // namespace pgas::detail
