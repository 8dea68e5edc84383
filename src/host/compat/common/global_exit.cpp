#include "host/compat/common/global_exit.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "common/thread.hpp"
#include "host/compat/common/runtime.hpp"

// The list of open streams, which the C library exports without a header. The symbols are weak, because another C
// library can lack them.
extern "C" {
[[gnu::weak]] void* _IO_iter_begin();           // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] void* _IO_iter_end();             // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] void* _IO_iter_next(void*);       // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] std::FILE* _IO_iter_file(void*);  // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] void _IO_list_lock();             // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] void _IO_list_unlock();           // NOLINT(bugprone-reserved-identifier)
}

namespace pgas::compat {

namespace {

using std::chrono::milliseconds;

constexpr std::string_view mark = " ends the processes of all PEs with status ";

/// The time limits of this process. All PEs should end within 1 s. The limits are shorter, because a PE learns of the
/// end up to 100 ms late, see global_exit_monitor.
constexpr milliseconds time_for_handlers{500};
constexpr milliseconds time_to_end{700};
/// Longer than the time for which a thread locks a stream to write a line.
constexpr milliseconds time_for_locks{20};

/// Set by the first thread that ends the process.
struct {
  std::atomic<bool> begun{false};
  std::atomic<int> status{0};
  std::atomic<std::thread::id> thread{};
  bool has_guards = false;
} ending;

/// The thread that has called exit(); none before that call.
std::atomic<std::thread::id> exiting{};

/// exit() destroys this object first, before exit() runs handlers and destroys static objects.
struct exit_sentinel {
  bool constructed = false;
  ~exit_sentinel() { exiting = std::this_thread::get_id(); }
};
thread_local exit_sentinel sentinel;

bool another_thread_exits() noexcept {
  const std::thread::id thread = exiting.load();
  return thread != std::thread::id() && thread != std::this_thread::get_id();
}

/// The exit status in the message of a failure, if another PE has called global_exit.
std::optional<int> status_in(std::string_view message) {
  const std::size_t at = message.find(mark);
  if (at == message.npos) return std::nullopt;
  int status = 0;
  const char* const first = message.data() + at + mark.size();
  const auto read = std::from_chars(first, message.data() + message.size(), status);
  return read.ec == std::errc{} ? std::optional<int>(status) : std::nullopt;
}

[[noreturn]] void stop_thread() noexcept {
  for (;;) ::pause();
}

/// Exit handlers run while other threads use data that the handlers destroy. If one of these threads crashes, the crash
/// must not change the exit status.
void end_after_crash(int) {
  constexpr std::string_view text = "[pgas] warning: a thread crashed while the process ended: output may be lost\n";
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  std::_Exit(ending.status.load());
}

void keep_status_at_signals() noexcept {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(number, end_after_crash);
  // When one PE has ended, a launcher sends signals to the other PEs. A write to a closed output raises SIGPIPE.
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) std::signal(number, SIG_IGN);
}

/// Starts two threads. The first thread ends the process at the limit. The second thread first writes a message, and
/// sometimes waits for the reader of the output.
bool start_guards() noexcept {
  try {
    std::thread([] {
      std::this_thread::sleep_for(time_to_end);
      std::_Exit(ending.status.load());
    }).detach();
    std::thread([] {
      std::this_thread::sleep_for(time_for_handlers);
      runtime::instance().warn(fmt::format(
          "ending the process: an exit handler, a static destructor or a stream's lock has taken {} ms; output that "
          "is not written yet is lost",
          time_for_handlers.count()));
      const int status = ending.status.load();
      if (status == 0) std::quick_exit(0);  // runs the handlers by which bootstraps report success to the launcher
      std::_Exit(status);
    }).detach();
    return true;
  } catch (const std::exception&) {
    return false;  // without these threads, end_process() calls no function that could wait
  }
}

bool is_writable(std::FILE* stream) noexcept {
  pollfd asked{::fileno_unlocked(stream), POLLOUT, 0};
  return asked.fd < 0 || ::poll(&asked, 1, 0) != 0;  // a stream in memory has no descriptor
}

bool lock_until(std::FILE* stream, std::chrono::steady_clock::time_point until) noexcept {
  while (::ftrylockfile(stream) != 0) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

/// Flushes one stream. Does not flush the stream if another thread has locked it, or if the reader of the output does
/// not read.
void flush_stream(std::FILE* stream, std::chrono::steady_clock::time_point until) {
  const bool locked = lock_until(stream, until);
  const std::size_t bytes = ::__fpending(stream);
  const char* why = nullptr;
  if (!locked)
    why = "a thread holds its lock";
  else if (bytes != 0 && !is_writable(stream))
    why = "its reader does not read";
  else
    ::fflush_unlocked(stream);
  const int descriptor = ::fileno_unlocked(stream);
  if (locked) ::funlockfile(stream);
  if (why == nullptr || bytes == 0) return;
  runtime::instance().warn(
      fmt::format("ending the process: the last {} bytes written to the stream of descriptor {} may be lost: {}", bytes,
                  descriptor, why));
}

/// Flushes the streams that can be flushed without waiting. exit() would flush all streams one after another. If one
/// stream blocked, exit() would never flush the streams after it.
void flush_streams() noexcept {
  try {
    const auto until = std::chrono::steady_clock::now() + time_for_locks;
    for (std::FILE* const file : {stdout, stderr}) flush_stream(file, until);
    if (_IO_list_lock == nullptr || _IO_list_unlock == nullptr || _IO_iter_begin == nullptr ||
        _IO_iter_end == nullptr || _IO_iter_next == nullptr || _IO_iter_file == nullptr || !ending.has_guards)
      return;
    _IO_list_lock();  // if another thread holds the lock in fflush(NULL), the threads of start_guards() end the process
    for (void* pointer = _IO_iter_begin(); pointer != _IO_iter_end(); pointer = _IO_iter_next(pointer)) {
      std::FILE* const stream = _IO_iter_file(pointer);
      if (stream != stdout && stream != stderr) flush_stream(stream, until);
    }
    _IO_list_unlock();
  } catch (const std::exception&) {
    // The message could not be allocated.
  }
}

}  // namespace

std::string exit_reason(std::string_view function, int status) { return fmt::format("{}{}{}", function, mark, status); }

bool is_ending() noexcept {
  if (!ending.begun.load()) return false;
  const std::thread::id me = std::this_thread::get_id();
  if (ending.thread.load() != me && exiting.load() != me) stop_thread();
  return true;
}

void watch_exit() noexcept {
  if (::gettid() != ::getpid()) return;
  sentinel.constructed = true;
}

void take_end_status(int status) noexcept {
  if (is_ending() && status != ending.status.load()) std::exit(ending.status.load());
}

void begin_end(int status) noexcept {
  if (ending.begun.exchange(true)) return static_cast<void>(is_ending());
  // If the thread were cancelled here, the process would end before it has informed the other PEs.
  static_cast<void>(::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr));
  ending.status = status;
  ending.thread = std::this_thread::get_id();
  keep_status_at_signals();
  ending.has_guards = start_guards();
}

void end_process(int status) noexcept {
  begin_end(status);
  flush_streams();
  if (!ending.has_guards) std::_Exit(ending.status.load());
  if (another_thread_exits()) stop_thread();  // exit() by two threads at the same time is undefined
  std::exit(ending.status.load());            // if this is an exit handler, exit() runs the next handler
}

void exit_if_requested(const error& failure) noexcept {
  if (is_ending() || failure.code() != code::aborted) return;
  const std::optional<int> status = status_in(failure.what());
  if (!status) return;
  // The PE that called global_exit ends first, because launchers report the first PE that ends and use its status.
  std::this_thread::sleep_for(milliseconds(50));
  end_process(*status);
}

global_exit_monitor::global_exit_monitor(const world& joined) : world_(joined) {
  try {
    // The new thread inherits the signal mask of this thread, as expected by the exit handlers, which run on the new
    // thread.
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& why) {
    throw pgas::detail::thread_refused(why);
  }
}

global_exit_monitor::~global_exit_monitor() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void global_exit_monitor::run() {
  constexpr milliseconds pause{50};
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, pause, [this] { return ends_; })) {
    try {
      world_.check();
    } catch (const error& failure) {
      // If a thread of the program is in a call of the library, that thread should end the process. Otherwise that
      // thread would run at the same time as the exit handlers. The pause gives that thread time to end the process.
      if (ended_.wait_for(lock, pause, [this] { return ends_; })) return;
      exit_if_requested(failure);
      if (failure.code() == code::device_failed && failure.pe() >= 0 && failure.pe() != world_.my_pe() && !is_ending())
        end_process(EXIT_FAILURE);
      return;
    }
  }
}

}  // namespace pgas::compat
