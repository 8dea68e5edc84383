#include "host/share/timeline_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "common/process_identity.hpp"
#include "common/system_error.hpp"
#include "host/log/logger.hpp"
#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/error.hpp"
#include "pgas/timeline.hpp"

namespace pgas::detail {

namespace {

/// The value that ends all waits when it replaces the value `last` of the word. For the comparison
/// that GPUs make, the value is above max_value. The value also contains `last`. One compare-and-swap therefore ends
/// the waits, and a reader of the word still learns the last value.
constexpr std::uint64_t released_at(std::uint64_t last) {
  return timeline::max_value + 1 + std::min(last, timeline::max_value - 2);
}
constexpr bool is_released(std::uint64_t word) { return word > timeline::max_value; }

/// The interval at which a waiting thread asks the system whether a process has ended.
constexpr std::uint64_t between_looks_ns = 20'000'000;

std::unique_ptr<stream_words> make_words(memory_place place, const shared_page& shared) {
  return place == memory_place::host() ? make_cpu_stream_words()
                                       : make_cuda_stream_words(place.ordinal, shared.pages(sizeof(timeline_page)));
}

/// The place for whose streams the timeline was made.
memory_place place_of(const timeline_page& page) {
  if (page.on_gpu == 0) return memory_place::host();
  const std::optional<int> ordinal = find_gpu(page.uuid);
  if (!ordinal)
    throw error(code::device_unavailable,
                "the timeline was made for streams of a GPU that is not visible to this process (CUDA_VISIBLE_DEVICES "
                "may hide it): open it with open_options::place, for streams of another GPU or of the host");
  return memory_place::gpu(*ordinal);
}

}  // namespace

std::shared_ptr<timeline_state> timeline_state::make(memory_place place) {
  shared_page shared = shared_page::make(ticket_kind::timeline, sizeof(timeline_page));
  auto* page = ::new (shared.data()) timeline_page{};
  if (place != memory_place::host()) {
    page->on_gpu = 1;
    page->uuid = uuid_of_gpu(place.ordinal);
  }
  return owned(std::make_unique<timeline_state>(std::move(shared), place));
}

std::shared_ptr<timeline_state> timeline_state::open(const ticket& which, const open_options& options) {
  shared_page shared = shared_page::open(ticket_kind::timeline, which, sizeof(timeline_page), options);
  const memory_place place = options.place ? *options.place : place_of(*static_cast<timeline_page*>(shared.data()));
  auto opened = owned(std::make_unique<timeline_state>(std::move(shared), place));
  if (const state is = opened->now(); is.phase != timeline_page::phase::open) opened->throw_loss(is.pid);
  return opened;
}

std::shared_ptr<timeline_state> timeline_state::again(std::optional<memory_place> place) const {
  return owned(std::make_unique<timeline_state>(shared_.again(), place ? *place : place_of(*page_)));
}

std::shared_ptr<timeline_state> timeline_state::owned(std::unique_ptr<timeline_state> result) {
  deferred_release& by =
      result->place_ == memory_place::host() ? deferred_release::of_host_streams() : deferred_release::of_gpu_streams();
  return share_deferred<timeline_state>(by, std::move(result), [](timeline_state& last) noexcept { last.close(); });
}

timeline_state::timeline_state(shared_page shared, memory_place place)
    : timeline_state(std::move(shared), place, nullptr) {
  words_ = make_words(place, shared_);
}

timeline_state::timeline_state(shared_page shared, memory_place place, std::unique_ptr<stream_words> words)
    : shared_(std::move(shared)),
      page_(static_cast<timeline_page*>(shared_.data())),
      place_(place),
      me_(this_process_name()),
      words_(std::move(words)) {}

timeline_state::~timeline_state() {
  if (watch_ != nullptr) watch_->remove(*this);
  if (!shared_.is_mine()) return;
  // No stream of this process will record a value any more.
  const state is = now();
  if (is.phase == timeline_page::phase::open || is.phase == timeline_page::phase::closing)
    set_phase(is, timeline_page::phase::destroyed, ::getpid());
}

void timeline_state::close() noexcept {
  if (const state is = now(); shared_.is_mine() && is.phase == timeline_page::phase::open)
    set_phase(is, timeline_page::phase::closing, ::getpid());
}

std::uint64_t timeline_state::export_id() {
  const std::lock_guard lock(mutex_);
  return shared_.mine().export_id();
}

void timeline_state::check_process() const {
  if (!is_of_this_process())
    throw error(code::forked_process,
                fmt::format("this timeline belongs to process {}: a child of fork() must open a ticket", pid_in(me_)));
}

timeline_state::state timeline_state::now() const {
  const std::uint64_t word = load_relaxed(&page_->phase_word);
  fence_acquire();  // after this fence, values that were recorded before the end of the phase are visible
  return {static_cast<timeline_page::phase>(word & 0xff), static_cast<pid_t>(word >> 8)};
}

void timeline_state::set_phase(state from, timeline_page::phase to, pid_t by) noexcept {
  const auto word_of = [](timeline_page::phase phase, pid_t pid) {
    return static_cast<std::uint64_t>(phase) | static_cast<std::uint64_t>(pid) << 8;
  };
  fence_release();  // see now()
  static_cast<void>(compare_exchange(&page_->phase_word, word_of(from.phase, from.pid), word_of(to, by)));
}

void timeline_state::check_value(std::uint64_t value) {
  if (value > timeline::max_value)
    throw error(code::invalid_argument, fmt::format("a timeline has values up to 2^62, not {}", value));
}

void timeline_state::begin_record(std::uint64_t value) {
  check_value(value);
  if (const state is = now(); is.phase != timeline_page::phase::open) throw_loss(is.pid);
  if (load_relaxed(&page_->writer) != me_) store_relaxed(&page_->writer, me_);
}

void timeline_state::record(void* stream, std::uint64_t value) {
  begin_record(value);
  // Enqueues the write before `recorded` announces the value, because other processes wait for an announced value.
  words_->write(stream, &page_->word, value, shared_from_this());
  store_relaxed(&page_->recorded, value);
}

void timeline_state::set(std::uint64_t value) {
  begin_record(value);
  store_relaxed(&page_->recorded, value);
  store_release(&page_->word, value);
}

void timeline_state::wait(void* stream, std::uint64_t value) {
  check_value(value);
  if (words_->wait_on_device()) {
    check_wait(value);
    watch();
    for (std::uint64_t most = awaited_; most < value && !awaited_.compare_exchange_weak(most, value);) {
    }
  }
  words_->wait(stream, &page_->word, value, [self = shared_from_this(), value, alarm = wait_alarm()]() mutable {
    self->check_wait(value);
    if (load_relaxed(&self->page_->word) >= value) return;
    alarm.look([&](const std::string& lasted) { return self->text_of_wait("a stream", value, lasted); });
  });
}

void timeline_state::wait_host(std::uint64_t value, std::chrono::milliseconds timeout) {
  check_value(value);
  const bool bounded = timeout != timeline::forever;
  const auto end = std::chrono::steady_clock::now() + (bounded ? timeout : std::chrono::milliseconds{0});
  wait_alarm alarm;
  await_word(&page_->word, value, [&] {
    check_wait(value);
    const std::uint64_t seen = load_relaxed(&page_->word);
    if (seen >= value) return;
    alarm.look([&](const std::string& lasted) { return text_of_wait("a thread", value, lasted); });
    if (bounded && std::chrono::steady_clock::now() >= end)
      throw error(code::wait_timeout,
                  fmt::format("a wait for value {} of a timeline gave up after {} ms: the value is {}", value,
                              timeout.count(), seen));
  });
}

std::uint64_t timeline_state::query() const {
  const std::uint64_t seen = load_relaxed(&page_->word);
  fence_acquire();
  return is_released(seen) ? seen - timeline::max_value - 1 : seen;
}

std::uint64_t timeline_state::recorded() const { return load_relaxed(&page_->recorded); }

bool timeline_state::look_is_due() {
  const std::uint64_t now = clock_ns();
  std::uint64_t next = next_look_;
  return now >= next && next_look_.compare_exchange_strong(next, now + between_looks_ns);
}

void timeline_state::check_wait(std::uint64_t value) {
  const std::uint64_t seen = load_relaxed(&page_->word);
  fence_acquire();  // orders the load before later loads of the recording process's name and of the phase
  if (!is_released(seen)) {
    if (seen >= value) {
      // find_loss() also notes which processes have the timeline open, so that a later report of a loss can name the
      // process.
      if (shared_.is_mine() && look_is_due()) static_cast<void>(find_loss());
      return;
    }
    // Checks at intervals; after a loss, checks in every call, so that each enqueued wait ends immediately.
    if (now().phase == timeline_page::phase::open && !known_loss_ && !look_is_due()) return;
  }
  if (const auto lost = find_loss(value)) {
    // Perhaps the value has arrived after the check above, and before the process ended or closed the timeline.
    if (query() >= value) return;
    // Ends the enqueued waits first, because after the error the caller destroys the stream and the timeline.
    release_waits(*lost);
    throw_loss(*lost);
  }
}

void timeline_state::throw_loss(pid_t lost) const {
  const std::uint64_t at = query();
  if (const auto is = now().phase; is == timeline_page::phase::destroyed || is == timeline_page::phase::closing)
    throw error(code::peer_lost, fmt::format("process {}{} has destroyed the timeline at {}", lost, on_host(), at));
  throw error(code::peer_lost,
              fmt::format("process {}{} has ended or closed the timeline at {}: later values will not be recorded",
                          lost, on_host(), at));
}

void timeline_state::check_waits() const {
  const std::uint64_t seen = load_relaxed(&page_->word);
  fence_acquire();  // orders the load before later loads of the phase
  if (is_released(seen)) throw_loss(now().pid);
}

std::string timeline_state::on_host() const {
  return shared_.is_mine() ? std::string() : fmt::format(" on {}", shared_.exporter().host);
}

std::optional<pid_t> timeline_state::find_loss(std::uint64_t value) {
  const state is = now();
  const bool closing = is.phase == timeline_page::phase::closing;
  if (is.phase != timeline_page::phase::open && !closing) return is.pid;
  const std::lock_guard lock(mutex_);
  std::optional<pid_t> lost;
  // In a closing timeline no process records a new value.
  if (closing && value > load_relaxed(&page_->recorded))
    lost = is.pid;
  else if (shared_.is_mine())
    lost = find_lost_opener();
  else if (!closing)
    lost = find_lost_exporter();
  else if (!shared_.alive())
    lost = is.pid;
  known_loss_ = lost.has_value();
  return lost;
}

std::optional<pid_t> timeline_state::find_lost_exporter() {
  if (shared_.alive()) return std::nullopt;
  // Another process can continue to record after the exporter has ended.
  const std::uint64_t writer = load_relaxed(&page_->writer);
  const pid_t exporter = shared_.exporter().pid;
  if (writer != 0 && pid_in(writer) != exporter && process_name(pid_in(writer)) == writer) return std::nullopt;
  return exporter;
}

std::optional<pid_t> timeline_state::find_lost_opener() {
  std::set<pid_t> now;
  for (const opener& process : shared_.mine().opened_by()) now.insert(process.pid);
  const bool newcomer = !std::includes(openers_.begin(), openers_.end(), now.begin(), now.end());
  const std::uint64_t writer = load_relaxed(&page_->writer);
  if (lost_ && newcomer) {
    // A new process has opened the timeline, and records in place of the lost process. The name of the lost process is
    // removed, unless that process has opened the timeline again: it would not write its name a second time.
    if (pid_in(writer) == *lost_ && !now.contains(*lost_))
      static_cast<void>(compare_exchange(&page_->writer, writer, std::uint64_t{0}));
    lost_.reset();
  } else if (!lost_ && writer != me_) {
    const pid_t recorded_last = pid_in(writer);
    if (openers_.contains(recorded_last) && !now.contains(recorded_last))
      lost_ = recorded_last;
    else if (now.empty() && writer != 0)
      lost_ = recorded_last;
    else if (now.empty() && !openers_.empty())
      lost_ = *openers_.begin();
  }
  openers_ = std::move(now);
  return lost_;
}

void timeline_state::watch() {
  auto item = wait_watch::of_process();
  {
    const std::lock_guard lock(mutex_);
    if (watch_ != nullptr) return;
    watch_ = item;
  }
  item->add(*this);
}

void timeline_state::look() noexcept {
  try {
    const std::uint64_t at = load_relaxed(&page_->word);
    // In a closing timeline, waits for recorded values end when the values arrive. Therefore, until the last recorded
    // value has arrived, find_loss() is called for this value.
    const std::uint64_t recorded_last = recorded();
    const auto lost = find_loss(at < recorded_last ? recorded_last : awaited_.load());
    if (lost) release_waits(*lost);
    if (at >= awaited_ || at != std::exchange(seen_, at)) return alarm_.restart();
    alarm_.look([&](const std::string& lasted) { return text_of_wait("a stream of a GPU", awaited_, lasted); });
  } catch (const std::exception&) {
    // The system does not report whether the process runs. The next check queries the system again.
  }
}

std::string timeline_state::text_of_wait(const char* waiter, std::uint64_t value, const std::string& lasted) const {
  const std::uint64_t writer = load_relaxed(&page_->writer);
  return fmt::format(
      "{} has waited for {} for value {} of the timeline of process {}{}. Its value is {}, {}. The wait ends when the "
      "timeline reaches the value or that process ends",
      waiter, lasted, value, shared_.is_mine() ? ::getpid() : shared_.exporter().pid, on_host(), query(),
      writer == 0 ? "and no process has recorded a value"
                  : fmt::format("and process {} was the last to record", pid_in(writer)));
}

void timeline_state::release_waits(pid_t lost) {
  // Reads the word again, because the awaited value has perhaps arrived after the caller read the word.
  std::uint64_t last = load_relaxed(&page_->word);
  if (last >= awaited_) return;
  if (const state is = now(); is.phase == timeline_page::phase::open) set_phase(is, timeline_page::phase::lost, lost);
  fence_release();  // a reader of the released word also sees the phase
  for (;;) {
    if (is_released(last) || last >= awaited_) return;
    const std::uint64_t found = compare_exchange(&page_->word, last, released_at(last));
    if (found == last) break;
    last = found;
  }
  log::logger(log_level::warn)
      .error(
          "process {}{} ended while streams of a GPU waited for its timeline, whose value is {} instead of {}: the "
          "streams continue",
          now().pid, on_host(), last, awaited_.load());
}

}  // namespace pgas::detail
