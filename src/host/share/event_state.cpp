#include "host/share/event_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "common/process_identity.hpp"
#include "host/log/logger.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// Identifies the file system of /dev/shm. Two containers with separate file systems return different values. Zeros if
/// /dev/shm does not exist.
std::pair<std::uint64_t, std::uint64_t> shm_identity() {
  struct stat about {};
  if (::stat("/dev/shm", &about) != 0) return {0, 0};
  return {about.st_dev, about.st_ino};
}

/// *Errors* device_unavailable.
void refuse_host(memory_place place) {
  if (place == memory_place::host())
    throw error(code::device_unavailable,
                "interprocess events need a CUDA GPU: use a pgas::timeline, which works on the host too");
}

}  // namespace

std::shared_ptr<event_state> event_state::share(int ordinal, std::unique_ptr<device_event> event) {
  deferred_release::of_gpu_streams().collect();
  shared_page shared = shared_page::make(ticket_kind::event, sizeof(event_page));
  auto* page = ::new (shared.data()) event_page{};
  page->uuid = uuid_of_gpu(ordinal);
  page->handle = event->handle();
  std::tie(page->shm_device, page->shm_inode) = shm_identity();
  const auto result = owned(std::make_unique<event_state>(std::move(shared), ordinal, std::move(event)));
  // Processes that open the event cannot always detect one another's end. This process can detect the end of each of
  // them, so it always watches the event.
  result->watch();
  return result;
}

std::shared_ptr<event_state> event_state::make(memory_place place) {
  refuse_host(place);
  return share(place.ordinal, make_device_event(place.ordinal));
}

std::shared_ptr<event_state> event_state::share(memory_place place, void* event) {
  refuse_host(place);
  if (event == nullptr) throw error(code::invalid_argument, "ipc_event::share() needs a cudaEvent_t, not null");
  return share(place.ordinal, adopt_device_event(place.ordinal, event));
}

std::shared_ptr<event_state> event_state::open(std::string_view ticket, const open_options& options) {
  deferred_release::of_gpu_streams().collect();
  shared_page shared =
      shared_page::open(ticket_kind::event, decode(ticket, ticket_kind::event), sizeof(event_page), options);
  auto* page = static_cast<event_page*>(shared.data());
  const memory_exporter& maker = shared.exporter();
  if (std::atomic_ref(page->destroyed) != 0)
    throw error(code::peer_lost, fmt::format("process {} on {} has destroyed the event", maker.pid, maker.host));
  if (std::pair(page->shm_device, page->shm_inode) != shm_identity())
    throw error(code::peer_unreachable,
                fmt::format("process {} on {} and this process see different /dev/shm, where CUDA keeps interprocess "
                            "events: start both containers with one IPC namespace (--ipc=host, --ipc=container:ID), or "
                            "use a pgas::timeline, which needs none",
                            maker.pid, maker.host));
  const std::optional<int> ordinal = find_gpu(page->uuid);
  if (!ordinal)
    throw error(code::device_unavailable,
                "the event belongs to a GPU that is not visible to this process (CUDA_VISIBLE_DEVICES may hide it)");
  auto event = open_device_event(*ordinal, page->handle);
  return owned(std::make_unique<event_state>(std::move(shared), *ordinal, std::move(event)));
}

std::shared_ptr<event_state> event_state::owned(std::unique_ptr<event_state> result) {
  return share_deferred<event_state>(deferred_release::of_gpu_streams(), std::move(result),
                                     [](event_state& last) noexcept {
                                       if (last.shared_.is_mine()) std::atomic_ref(last.page_->destroyed) = 1;
                                     });
}

event_state::event_state(shared_page shared, int ordinal, std::unique_ptr<device_event> event)
    : shared_(std::move(shared)),
      event_(std::move(event)),
      page_(static_cast<event_page*>(shared_.data())),
      me_(this_process_name()),
      records_(page_->records, make_cuda_stream_words(ordinal, shared_.pages(sizeof(event_page))), me_,
               [this](std::uint64_t name) { return end_of(name); }) {}

event_state::~event_state() {
  if (watch_ != nullptr) watch_->remove(*this);
}

bool event_state::can_end() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    return !shared_.is_mine() || shared_.mine().opened_by().empty();
  } catch (const std::exception&) {
    return false;  // the list of processes could not be allocated; the next check asks again
  }
}

std::uint64_t event_state::record(void* stream) {
  check_maker();
  event_->refuse_capture(stream, "recorded");
  return records_.record(stream, [&] { event_->record(stream); });
}

void event_state::wait(void* stream) {
  check_recorded();
  event_->refuse_capture(stream, "awaited");
  watch();
  records_.wait(stream);
}

bool event_state::reached() {
  check_recorded();
  return records_.reached(records_.count());
}

void event_state::check() {
  check_maker();
  if (const auto lost = records_.lost_wait())
    throw error(
        code::peer_lost,
        fmt::format("process {} ended before its stream reached its record: waits for the record continued", *lost));
}

void event_state::check_maker() {
  if (shared_.is_mine()) return;
  const std::lock_guard lock(mutex_);
  const memory_exporter& maker = shared_.exporter();
  const bool destroyed = std::atomic_ref(page_->destroyed) != 0;
  if (destroyed || !shared_.alive())
    throw error(code::peer_lost, fmt::format("process {} on {}, which made the event, {}", maker.pid, maker.host,
                                             destroyed ? "has destroyed it" : "has ended"));
}

void event_state::check_recorded() {
  check_maker();
  if (records() == 0)
    throw error(
        code::invalid_argument,
        "the event was never recorded, so a wait would return immediately: wait for records() > 0 first, or use a "
        "pgas::timeline, where a wait names a value");
}

std::optional<pid_t> event_state::end_of(std::uint64_t name) {
  if (name == 0 || name == me_) return std::nullopt;
  const pid_t pid = pid_in(name);
  const std::lock_guard lock(mutex_);
  if (!shared_.is_mine() && pid == shared_.exporter().pid)
    return shared_.alive() ? std::nullopt : std::optional<pid_t>(pid);
  if (process_name(pid) == name) return std::nullopt;
  // The process has ended or is in another PID namespace. The maker has a connection to each process that has opened
  // the event. Other processes rely on the maker as long as the maker runs.
  if (!shared_.is_mine()) return shared_.alive() ? std::nullopt : std::optional<pid_t>(pid);
  const std::vector<opener> now = shared_.mine().opened_by();
  return std::ranges::find(now, pid, &opener::pid) == now.end() ? std::optional<pid_t>(pid) : std::nullopt;
}

void event_state::watch() {
  auto item = wait_watch::of_process();
  {
    const std::lock_guard lock(mutex_);
    if (watch_ != nullptr) return;
    watch_ = item;
  }
  item->add(*this);
}

void event_state::look() noexcept {
  try {
    if (const auto lost = records_.release_lost())
      log::logger(log_level::warn)
          .error(
              "process {} ended before its stream reached its record of an interprocess event: waits for the record "
              "continue",
              *lost);
    const auto awaited = records_.awaited();
    if (!awaited || awaited->number != std::exchange(seen_, awaited->number)) return alarm_.restart();
    alarm_.look([&](const std::string& lasted) {
      return fmt::format(
          "a stream has waited for {} for record {} of an interprocess event, which the stream of process {} has not "
          "reached. The wait goes on until the stream reaches the record or that process ends",
          lasted, awaited->number, awaited->recorder);
    });
  } catch (const std::exception&) {
    // The system does not report whether the process runs. The next check queries the system again.
  }
}

}  // namespace pgas::detail
