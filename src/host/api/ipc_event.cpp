#include "pgas/ipc_event.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <tuple>
#include <utility>

#include "common/fork_guard.hpp"
#include "device/stream_sync.hpp"
#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/error.hpp"

namespace pgas {

namespace detail {

namespace {

/// What the processes share.
struct event_page {
  static constexpr std::uint64_t expected_magic = 0x31746e6576656370;  ///< "pcevent1"
  std::uint64_t magic;
  gpu_uuid uuid;
  event_handle handle;
  std::uint64_t shm_device;  ///< of the maker's /dev/shm, where CUDA keeps the event
  std::uint64_t shm_inode;
  std::uint64_t records;
  std::uint64_t destroyed;
};

/// Which file system /dev/shm is; two containers with one of their own each have different ones. Zeros where there is
/// none.
std::pair<std::uint64_t, std::uint64_t> shm_identity() {
  struct stat about {};
  if (::stat("/dev/shm", &about) != 0) return {0, 0};
  return {about.st_dev, about.st_ino};
}

}  // namespace

/// What ipc_event's functions do; its documentation counts.
class event_state {
 public:
  event_state(shared_memory mine, opened_memory theirs, std::unique_ptr<device_event> event)
      : mine_(std::move(mine)),
        theirs_(std::move(theirs)),
        event_(std::move(event)),
        page_(static_cast<event_page*>(mine_ ? mine_.data() : theirs_.data())) {}

  /// Tells importers. Not the destructor: the event is kept for them.
  void destroy() noexcept { store_release(&page_->destroyed, std::uint64_t{1}); }
  [[nodiscard]] bool is_mine() const noexcept { return static_cast<bool>(mine_); }
  [[nodiscard]] bool is_of_this_process() const noexcept { return owner_.in_creator(); }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] shared_memory& mine() {
    if (!mine_)
      throw error(code::invalid_argument,
                  "this event was opened by a ticket: tickets are made and revoked where the event was made");
    return mine_;
  }
  [[nodiscard]] std::uint64_t records() const { return load_relaxed(&page_->records); }

  std::uint64_t record(void* stream) {
    check_alive();
    event_->record(stream);
    return fetch<rmw::add>(&page_->records, std::uint64_t{1}) + 1;
  }
  void wait(void* stream) {
    check_recorded();
    event_->wait(stream);
  }
  [[nodiscard]] bool reached() {
    check_recorded();
    return event_->reached();
  }
  void check_alive() {
    if (mine_) return;
    const std::lock_guard lock(mutex_);
    const memory_exporter& maker = theirs_.exporter();
    const bool destroyed = load_relaxed(&page_->destroyed) != 0;
    if (destroyed || !theirs_.alive())
      throw error(code::peer_lost,
                  fmt::format("process {} on {}, which made the event, {}: a wait for it could last for ever",
                              maker.pid, maker.host, destroyed ? "has destroyed it" : "has ended"));
  }

 private:
  void check_recorded() {
    check_alive();
    if (records() == 0)
      throw error(code::invalid_argument,
                  "the event was never recorded, so that a wait for it would wait for nothing: wait for records() > 0 "
                  "first, or use a pgas::timeline, whose waits are for a value");
  }

  fork_guard owner_;
  std::mutex mutex_;  ///< guards the two kinds of memory
  shared_memory mine_;
  opened_memory theirs_;
  std::unique_ptr<device_event> event_;
  event_page* page_;
};

namespace {

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
      return !event->is_of_this_process() || event->mine().opened_by().empty();
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
  if (!event->is_mine()) return;
  event->destroy();
  kept_events::of_process().keep(std::move(event));
  kept_events::of_process().clean_up();
}

std::shared_ptr<event_state> share(shared_memory mine, opened_memory theirs, std::unique_ptr<device_event> event) {
  return {new event_state(std::move(mine), std::move(theirs), std::move(event)), retire};
}

}  // namespace
}  // namespace detail

ipc_event::ipc_event() noexcept = default;
ipc_event::ipc_event(ipc_event&& other) noexcept = default;
ipc_event& ipc_event::operator=(ipc_event&& other) noexcept = default;
ipc_event::~ipc_event() = default;

ipc_event::ipc_event(std::shared_ptr<detail::event_state> state) noexcept : state_(std::move(state)) {}

ipc_event ipc_event::make(memory_place place) {
  using namespace detail;
  if (place == memory_place::host())
    throw error(code::device_unavailable,
                "interprocess events are CUDA's, the host has none: make a pgas::timeline, which is for both");
  kept_events::of_process().clean_up();
  auto event = make_device_event(place.ordinal);
  shared_memory memory = shared_memory::make(memory_place::host(), sizeof(event_page));
  auto* page = ::new (memory.data()) event_page{};
  page->uuid = uuid_of_gpu(place.ordinal);
  page->handle = event->handle();
  std::tie(page->shm_device, page->shm_inode) = shm_identity();
  store_release(&page->magic, event_page::expected_magic);
  return ipc_event(share(std::move(memory), opened_memory(), std::move(event)));
}

ipc_event ipc_event::open(std::string_view ticket, const open_options& options) {
  using namespace detail;
  open_options for_page = options;
  for_page.place = memory_place::host();
  opened_memory memory = opened_memory::open(ticket, for_page);
  const auto* page = static_cast<const event_page*>(memory.data());
  if (memory.size() < sizeof(event_page) || load_relaxed(&page->magic) != event_page::expected_magic)
    throw error(code::handle_invalid, "the ticket is not one of an event: open it with opened_memory or timeline");
  fence_acquire();
  const memory_exporter& maker = memory.exporter();
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
  return ipc_event(share(shared_memory(), std::move(memory), std::move(event)));
}

detail::event_state& ipc_event::state() const {
  if (state_ == nullptr)
    throw error(code::invalid_argument, "this event object is empty: it was moved from, or never made or opened");
  if (!state_->is_of_this_process())
    throw error(code::forked_process, "this event belongs to the parent process: a child of fork() opens a ticket");
  return *state_;
}

std::string ipc_event::ticket(const ticket_options& options) {
  const std::lock_guard lock(state().mutex());
  return state_->mine().ticket(options);
}
void ipc_event::revoke() {
  const std::lock_guard lock(state().mutex());
  state_->mine().revoke();
}
std::vector<opener> ipc_event::opened_by() const {
  const std::lock_guard lock(state().mutex());
  return state_->mine().opened_by();
}

std::uint64_t ipc_event::record(void* stream) { return state().record(stream); }
std::uint64_t ipc_event::records() const { return state().records(); }
void ipc_event::wait(void* stream) { state().wait(stream); }
bool ipc_event::reached() const { return state().reached(); }

}  // namespace pgas
