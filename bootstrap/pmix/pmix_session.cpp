#include "bootstrap/pmix/pmix_session.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "bootstrap/error_messages.hpp"
#include "common/thread.hpp"

namespace pgas::boot {
namespace {

[[nodiscard]] error unavailable(std::string_view what) {
  return {code::bootstrap_unavailable,
          fmt::format("PMIx is not usable: {}. Install libpmix2 of the launcher's installation, or add its folder to "
                      "LD_LIBRARY_PATH",
                      what)};
}

[[nodiscard]] void* open_library() {
  std::string reasons;
  for (const char* name : {"libpmix.so.2", "libpmix.so"}) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* reason = ::dlerror();
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason != nullptr ? reason : name);
  }
  throw unavailable(reasons);
}

template <class Function>
void look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr) throw unavailable(fmt::format("the library that was found has no {}", name));
}

/// The version "PMIx 4.2.2" from "OpenPMIx 4.2.2 (PMIx Standard: 4.1, ...)". Only this description contains the
/// version.
[[nodiscard]] std::string version_of(void* handle) {
  const auto ask = reinterpret_cast<decltype(&PMIx_Get_version)>(::dlsym(handle, "PMIx_Get_version"));
  if (ask == nullptr) return "PMIx";
  std::string_view text{ask()};
  text.remove_prefix(std::min(text.find("PMIx"), text.size()));
  const auto second_space = text.find_first_of(" ,", text.find(' ') + 1);
  return std::string{text.substr(0, second_space)};
}

[[nodiscard]] pmix_library load() {
  void* handle = open_library();
  pmix_library library{};
  look_up(handle, "PMIx_Init", library.init);
  look_up(handle, "PMIx_Finalize", library.finalize);
  look_up(handle, "PMIx_Put", library.put);
  look_up(handle, "PMIx_Commit", library.commit);
  look_up(handle, "PMIx_Fence_nb", library.fence_nb);
  look_up(handle, "PMIx_Get", library.get);
  look_up(handle, "PMIx_Abort", library.abort);
  look_up(handle, "PMIx_Error_string", library.error_string);
  look_up(handle, "PMIx_Query_info_nb", library.query);
  look_up(handle, "PMIx_Register_event_handler", library.register_event_handler);
  library.version = version_of(handle);
  return library;
}

constexpr milliseconds time_to_finalize{5'000};

/// The interval at which a waiting process asks its server whether the other processes still run. The server of mpirun
/// sends no event when a process has ended. The server ends a fence only if the ended process closed its connection
/// after the fence had begun.
constexpr milliseconds between_looks{400};
/// The time limit for an answer. A server that does not answer within this time does not end a fence either.
constexpr milliseconds time_to_tell{200};

[[nodiscard]] pmix_info_t info(std::string_view key) {
  pmix_info_t one{};
  std::copy_n(key.begin(), std::min(key.size(), sizeof one.key - 1), one.key);
  return one;
}

[[nodiscard]] pmix_info_t flag(std::string_view key) {
  pmix_info_t one = info(key);
  one.value.type = PMIX_BOOL;
  one.value.data.flag = true;
  return one;
}

/// PMIx counts time limits in whole seconds.
[[nodiscard]] pmix_info_t time_limit(milliseconds limit) {
  pmix_info_t one = info(PMIX_TIMEOUT);
  one.value.type = PMIX_INT;
  one.value.data.integer = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(limit).count());
  return one;
}

/// Frees the result of PMIx_Get() for the two kinds of value that this code requests: numbers and byte objects.
struct value_deleter {
  void operator()(pmix_value_t* value) const {
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};
using owned_value = std::unique_ptr<pmix_value_t, value_deleter>;

/// The number in a value. Servers use different types for numbers.
[[nodiscard]] std::optional<long long> to_number(const pmix_value_t& value) {
  switch (value.type) {
    case PMIX_UINT32: return value.data.uint32;
    case PMIX_INT32: return value.data.int32;
    case PMIX_UINT: return value.data.uint;
    case PMIX_INT: return value.data.integer;
    case PMIX_UINT16: return value.data.uint16;
    case PMIX_INT16: return value.data.int16;
    case PMIX_UINT64: return static_cast<long long>(value.data.uint64);
    case PMIX_INT64: return value.data.int64;
    case PMIX_SIZE: return static_cast<long long>(value.data.size);
    case PMIX_PROC_RANK: return value.data.rank;
    default: return std::nullopt;
  }
}

/// The state that a fence shares with its callback, which may be called after the wait has ended.
struct fence_state {
  std::array<pmix_info_t, 2> directives;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<pmix_status_t> status;
};

void fence_done(pmix_status_t status, void* context) {
  const std::unique_ptr<std::shared_ptr<fence_state>> state{static_cast<std::shared_ptr<fence_state>*>(context)};
  const std::lock_guard lock{(*state)->mutex};
  (*state)->status = status;
  (*state)->changed.notify_all();
}

/// A question to the server about the processes of this host, and the answer, which may arrive after the wait has
/// ended.
struct table_state {
  explicit table_state(const char* of) : job{of} {}

  std::string job;
  std::string key = PMIX_QUERY_LOCAL_PROC_TABLE;
  std::array<char*, 2> keys{key.data(), nullptr};
  pmix_info_t qualifier = [this] {
    pmix_info_t one = info(PMIX_NSPACE);
    one.value.type = PMIX_STRING;
    one.value.data.string = job.data();
    return one;
  }();
  pmix_query_t query{keys.data(), &qualifier, 1};
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<pmix_status_t> status;
  std::vector<int> ended;
};

void add_ended(const pmix_proc_info_t& process, std::vector<int>& ended) {
  if (process.state >= PMIX_PROC_STATE_TERMINATED && process.state != PMIX_PROC_STATE_MIGRATING)
    ended.push_back(static_cast<int>(process.proc.rank));
}

void table_told(pmix_status_t status, pmix_info_t* answers, std::size_t count, void* context,
                pmix_release_cbfunc_t release, void* released) {
  const std::unique_ptr<std::shared_ptr<table_state>> state{static_cast<std::shared_ptr<table_state>*>(context)};
  {
    const std::lock_guard lock{(*state)->mutex};
    for (std::size_t i = 0; i < count; ++i) {
      if (answers[i].value.type != PMIX_DATA_ARRAY || answers[i].value.data.darray == nullptr) continue;
      const pmix_data_array_t& table = *answers[i].value.data.darray;
      for (std::size_t row = 0; row < table.size; ++row) {
        if (table.type == PMIX_PROC_INFO) {
          add_ended(static_cast<const pmix_proc_info_t*>(table.array)[row], (*state)->ended);
        } else if (table.type == PMIX_INFO) {  // the form of Open MPI 4
          const pmix_value_t& value = static_cast<const pmix_info_t*>(table.array)[row].value;
          if (value.type == PMIX_PROC_INFO) add_ended(*value.data.pinfo, (*state)->ended);
        }
      }
    }
    (*state)->status = status;
    (*state)->changed.notify_all();
  }
  if (release != nullptr) release(released);
}

/// The events that a server sends when a process has failed. A process that ends after PMIx_Finalize() causes none of
/// these events.
std::array<pmix_status_t, 4> failures{PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_TERM_WO_SYNC,
                                      PMIX_ERR_LOST_CONNECTION};

std::atomic<pmix_session*> listening_session{nullptr};

void event_arrived(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t* details,
                   std::size_t count, pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t done,
                   void* context) {
  if (pmix_session* const session = listening_session) session->on_event(status, source, details, count);
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

}  // namespace

const pmix_library& pmix_library::get_loaded() {
  static const pmix_library library = load();
  return library;
}

pmix_session& pmix_session::get_connected(const deadline& limit) {
  // Constructed after the library has registered its exit handlers, and therefore destroyed before these handlers run.
  static pmix_session session{pmix_library::get_loaded(), limit};
  // If exit handlers do not return, shmem_global_exit(0) ends the process by quick_exit(), which runs no destructors.
  // The handler at_quick_exit therefore finalizes the session; otherwise the server would report a failure.
  [[maybe_unused]] static const int at_quick_exit = std::at_quick_exit([] { session.finalize(); });
  if (!session.process_.in_creator())
    throw error{code::bootstrap_unavailable,
                "the connection to the PMIx server belongs to the process that forked this one"};
  return session;
}

pmix_session::pmix_session(const pmix_library& library, const deadline& limit) : library_(library) {
  struct answer {
    pmix_status_t status;
    pmix_proc_t self;
  };
  const auto got = call_with_timeout(limit.left(), [init = library.init] {
    answer result{};
    result.status = init(&result.self, nullptr, 0);
    return result;
  });
  if (!got)
    throw error{code::bootstrap_timeout, "the PMIx server did not answer in time. Is the launcher still running?"};
  if (got->status != PMIX_SUCCESS) {
    throw failed(code::bootstrap_unavailable,
                 fmt::format("{} could not connect to the launcher's PMIx server", library.version), got->status);
  }
  self_ = got->self;
  try {
    size_ = ask_job_size();
    check_rank_and_size(self_.rank, size_, library.version);
  } catch (...) {
    (void)library_.finalize(nullptr, 0);
    throw;
  }
}

pmix_session::~pmix_session() {
  listening_session = nullptr;
  finalize();
}

void pmix_session::finalize() noexcept {
  if (!process_.in_creator()) return;  // the server would treat the message as the end of the parent process
  try {
    (void)call_with_timeout(time_to_finalize, [finalize = library_.finalize] { return finalize(nullptr, 0); });
  } catch (...) {  // no memory or no thread; the end of this process also informs the launcher
  }
}

int pmix_session::ask_job_size() const {
  pmix_proc_t job = self_;
  job.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* raw = nullptr;
  if (const auto status = library_.get(&job, PMIX_JOB_SIZE, nullptr, 0, &raw); status != PMIX_SUCCESS)
    throw failed(code::bootstrap_protocol, "the PMIx server does not say how many processes there are", status);
  const owned_value value{raw};
  const auto number = to_number(*value);
  if (!number)
    throw error{code::bootstrap_protocol,
                fmt::format("the PMIx server gives the number of processes as a value of type {}, not as a number. Its "
                            "version is not compatible with this libpmix ({})",
                            value->type, version())};
  check_rank_and_size(0, *number, library_.version);
  return static_cast<int>(*number);
}

std::vector<blob> pmix_session::exchange(const std::string& key, std::span<const std::byte> mine,
                                         const deadline& limit) {
  publish_to_all(key, mine, limit);
  std::vector<blob> parts;
  for (int from = 0; from < size_; ++from) parts.push_back(fetch(from, key, limit));
  return parts;
}

void pmix_session::publish_to_all(const std::string& key, std::span<const std::byte> mine, const deadline& limit) {
  const std::unique_lock lock{fencing_, limit.at()};
  if (!lock) throw error{code::bootstrap_timeout, "another world of this process waits in a PMIx fence for too long"};
  publish(key, mine);
  fence(key, limit);
}

blob pmix_session::fetch(int rank, const std::string& key, const deadline& limit) const {
  // If this process makes two worlds at the same time, other processes may have called the fence for the second world.
  // Therefore the value can arrive after the fence.
  auto part = look_up(rank, key, false);
  auto next_look = detail::clock::now() + between_looks;
  while (!part) {
    if (limit.expired()) throw timed_out(key);
    if (detail::clock::now() >= next_look) {
      check_ended(key);
      next_look = detail::clock::now() + between_looks;
    }
    std::this_thread::sleep_for(milliseconds{2});
    part = look_up(rank, key, true);
  }
  return std::move(*part);
}

void pmix_session::listen(unsigned world, failure_listener listener) {
  {
    const std::lock_guard lock{listening_};
    if (!listener) {
      listeners_.erase(world);
      return;
    }
    listeners_[world] = std::move(listener);
    if (std::exchange(registered_, true)) return;
  }
  listening_session = this;
  const std::lock_guard lock{calls_};
  (void)library_.register_event_handler(failures.data(), failures.size(), nullptr, 0, event_arrived, nullptr, nullptr);
}

void pmix_session::on_event(pmix_status_t status, const pmix_proc_t* source, const pmix_info_t* details,
                            std::size_t count) {
  const pmix_proc_t* failed = source;
  for (std::size_t i = 0; i < count; ++i)
    if (std::string_view{details[i].key} == PMIX_EVENT_AFFECTED_PROC && details[i].value.type == PMIX_PROC)
      failed = details[i].value.data.proc;
  if (failed == nullptr || std::string_view{failed->nspace} != self_.nspace ||
      failed->rank >= static_cast<pmix_rank_t>(size_))
    return;
  const char* const words = library_.error_string(status);
  const std::lock_guard lock{listening_};
  for (const auto& [world, listener] : listeners_) listener(static_cast<int>(failed->rank), words);
}

void pmix_session::publish(const std::string& key, std::span<const std::byte> mine) const {
  // The published value begins with an extra byte, because some versions refuse empty objects.
  blob content(1 + mine.size());
  std::copy(mine.begin(), mine.end(), content.begin() + 1);
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = reinterpret_cast<char*>(content.data());
  value.data.bo.size = content.size();
  const std::lock_guard lock{calls_};
  if (const auto status = library_.put(PMIX_GLOBAL, key.c_str(), &value); status != PMIX_SUCCESS)
    throw failed(code::bootstrap_protocol, fmt::format("PMIx_Put of {} bytes", mine.size()), status);
  if (const auto status = library_.commit(); status != PMIX_SUCCESS)
    throw failed(code::bootstrap_protocol, "PMIx_Commit", status);
}

void pmix_session::fence(const std::string& key, const deadline& limit) const {
  const auto state = std::make_shared<fence_state>();
  state->directives = {flag(PMIX_COLLECT_DATA), time_limit(limit.left())};
  auto context = std::make_unique<std::shared_ptr<fence_state>>(state);
  const auto started = [&] {
    const std::lock_guard lock{calls_};
    return library_.fence_nb(nullptr, 0, state->directives.data(), state->directives.size(), fence_done, context.get());
  }();
  if (started == PMIX_OPERATION_SUCCEEDED) return;
  if (started != PMIX_SUCCESS) throw failed(code::bootstrap_protocol, "PMIx_Fence", started);
  (void)context.release();  // now owned by the callback

  std::unique_lock lock{state->mutex};
  const auto done = [&] { return state->status.has_value(); };
  while (!state->changed.wait_until(lock, std::min(limit.at(), detail::clock::now() + between_looks), done)) {
    lock.unlock();
    if (limit.expired()) throw timed_out(key);
    check_ended(key);
    lock.lock();
  }
  if (*state->status == PMIX_ERR_TIMEOUT) {
    lock.unlock();
    throw timed_out(key);
  }
  if (const pmix_status_t status = *state->status; status != PMIX_SUCCESS) {
    lock.unlock();
    throw given_up(key, status);
  }
}

std::optional<blob> pmix_session::look_up(int rank, const std::string& key, bool ask_server) const {
  pmix_proc_t from = self_;
  from.rank = static_cast<pmix_rank_t>(rank);
  std::array<pmix_info_t, 2> directives{flag(PMIX_IMMEDIATE), flag(PMIX_GET_REFRESH_CACHE)};
  pmix_value_t* raw = nullptr;
  const auto status = [&] {
    const std::lock_guard lock{calls_};
    return library_.get(&from, key.c_str(), directives.data(), ask_server ? 2 : 1, &raw);
  }();
  if (status == PMIX_ERR_NOT_FOUND || status == PMIX_ERR_TIMEOUT) return std::nullopt;
  // Some servers cannot refresh values that they have already returned. On such a server, a look-up without a refresh
  // finds the values that processes of the server's host publish later.
  if (ask_server && status == PMIX_ERR_NOT_SUPPORTED) return look_up(rank, key, false);
  if (status != PMIX_SUCCESS)
    throw failed(code::bootstrap_protocol, fmt::format("PMIx_Get of rank {}'s part", rank), status);
  const owned_value value{raw};
  if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size < 1)
    throw error{code::bootstrap_protocol,
                fmt::format("rank {} published a value of type {}, not bytes, over PMIx. All "
                            "processes must run the same version of the library",
                            rank, value->type),
                rank};
  const auto* bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
  return blob(bytes + 1, bytes + value->data.bo.size);
}

std::vector<int> pmix_session::missing(const std::string& key) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size_; ++rank) {
    pmix_proc_t from = self_;
    from.rank = static_cast<pmix_rank_t>(rank);
    pmix_info_t immediately = flag(PMIX_IMMEDIATE);
    pmix_value_t* raw = nullptr;
    const std::lock_guard lock{calls_};
    if (library_.get(&from, key.c_str(), &immediately, 1, &raw) == PMIX_SUCCESS)
      const owned_value value{raw};
    else
      ranks.push_back(rank);
  }
  return ranks;
}

std::vector<int> pmix_session::ended_here() const {
  if (!tells_ends_) return {};
  const auto state = std::make_shared<table_state>(self_.nspace);
  auto context = std::make_unique<std::shared_ptr<table_state>>(state);
  const auto asked = [&] {
    const std::lock_guard lock{calls_};
    return library_.query(&state->query, 1, table_told, context.get());
  }();
  if (asked == PMIX_SUCCESS) (void)context.release();  // now owned by the callback
  std::unique_lock lock{state->mutex};
  const auto told = [&] { return state->status.has_value(); };
  if (asked == PMIX_SUCCESS && !state->changed.wait_for(lock, time_to_tell, told)) return {};
  tells_ends_ = asked == PMIX_SUCCESS && *state->status == PMIX_SUCCESS;
  return tells_ends_ ? state->ended : std::vector<int>();
}

void pmix_session::check_ended(const std::string& key) const {
  std::vector<int> ranks = ended_here();
  std::erase_if(ranks, [&](int rank) { return look_up(rank, key, true).has_value(); });
  if (ranks.empty()) return;
  std::ranges::sort(ranks);
  throw error{code::peer_lost,
              fmt::format("{} ended before the exchange '{}', in which all processes of the job take part; see their "
                          "output and the launcher's",
                          name_ranks(ranks, size_), key),
              ranks.front()};
}

error pmix_session::timed_out(const std::string& key) const {
  const std::vector<int> ranks = missing(key);
  return {
      code::bootstrap_timeout,
      fmt::format(
          "not all of the {} processes reached the exchange '{}' in time{}. Check that all make the same calls and "
          "still run",
          size_, key,
          ranks.empty() ? "" : fmt::format("; this host's PMIx server has nothing from {}", name_ranks(ranks, size_))),
      ranks.empty() ? -1 : ranks.front()};
}

error pmix_session::given_up(const std::string& key, pmix_status_t status) const {
  const std::vector<int> ranks = missing(key);
  return {
      code::peer_lost,
      fmt::format("the PMIx server gave up the exchange '{}': {} ({}){}. Most likely a process of the job has ended; "
                  "its output and the launcher's say why",
                  key, library_.error_string(status), status,
                  ranks.empty() ? "" : fmt::format("; it has nothing from {}", name_ranks(ranks, size_))),
      ranks.empty() ? -1 : ranks.front()};
}

error pmix_session::failed(code why, std::string_view what, pmix_status_t status) const {
  return {why,
          fmt::format("{}: {} ({}). Where client and server belong to different installations, start with the launcher "
                      "that came with libpmix, or give MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE instead",
                      what, library_.error_string(status), status)};
}

void pmix_session::abort(const std::string& reason) const {
  (void)call_with_timeout(milliseconds{3000},
                          [reason, abort = library_.abort] { return abort(1, reason.c_str(), nullptr, 0); });
}

}  // namespace pgas::boot
