#include "interrupt.hpp"

#include <cxxabi.h>
#include <nanobind/stl/string.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace nb = nanobind;

namespace pgas::python {
namespace {

using namespace std::chrono_literals;

/// The maximum time until Python runs a signal handler.
constexpr auto signal_latency = 20ms;

struct task {
  std::function<void()> body;
  std::exception_ptr failed;
  bool done = false;
};

/// A detached thread that runs one task at a time. The thread ends when `closed` is set.
struct runner {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<task> next;
  bool closed = false;
  pid_t process = getpid();
};

void serve(const std::shared_ptr<runner>& self) {
  std::unique_lock lock(self->mutex);
  for (;;) {
    self->changed.wait(lock, [&] { return self->next != nullptr || self->closed; });
    if (self->next == nullptr) return;
    const std::shared_ptr<task> job = std::move(self->next);
    lock.unlock();
    try {
      job->body();
    } catch (...) {
      job->failed = std::current_exception();
    }
    lock.lock();
    job->done = true;
    self->changed.notify_all();
  }
}

/// The runner that waits for the next task, or null. Only the main thread uses this pointer, while it holds the GIL.
std::shared_ptr<runner>* idle = new std::shared_ptr<runner>;

std::shared_ptr<runner> take() {
  if (*idle != nullptr && (*idle)->process == getpid()) return std::exchange(*idle, nullptr);
  // A child of fork() has a copy of its parent's object, but not the thread. The locks of the object may stay locked
  // for ever, so the object is never destroyed.
  static auto* const of_parents = new std::vector<std::shared_ptr<runner>>;
  if (*idle != nullptr) of_parents->push_back(std::exchange(*idle, nullptr));
  auto made = std::make_shared<runner>();
  // The thread blocks all signals, so that only threads of the program handle signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([made] { serve(made); }).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

void give(std::shared_ptr<runner> used) {
  if (*idle == nullptr) {
    *idle = std::move(used);
    return;
  }
  // If another runner is idle, a signal handler has also called the library during this call. One idle runner is
  // enough.
  const std::lock_guard lock(used->mutex);
  used->closed = true;
  used->changed.notify_all();
}

/// The text for an interruption: "interrupted by Ctrl-C", or the exception that a signal handler of the program has
/// raised.
std::string words_for(const nb::python_error& raised) {
  if (raised.matches(PyExc_KeyboardInterrupt)) return "interrupted by Ctrl-C";
  std::string words = "interrupted by a signal; its handler raised ";
  try {
    words +=
        nb::cast<std::string>(raised.type().attr("__name__")) + ": " + nb::cast<std::string>(nb::str(raised.value()));
  } catch (const std::exception&) {
    words += "an exception";
  }
  return words;
}

}  // namespace

gil_released::~gil_released() {
  try {
    PyEval_RestoreThread(state_);
  } catch (const abi::__forced_unwind&) {
    for (;;) ::pause();  // unwinding from here would abort the process
  }
}

bool on_main_thread() {
  static pid_t process = 0;
  static unsigned long main_thread = 0;
  if (process != getpid()) {
    main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    process = getpid();
  }
  return PyThread_get_thread_ident() == main_thread;
}

void run_elsewhere(std::function<void()> body, const std::function<void(const std::string&)>& interrupt, bool abandon) {
  std::shared_ptr<runner> thread = take();
  const auto job = std::make_shared<task>();
  job->body = std::move(body);
  {
    const std::lock_guard lock(thread->mutex);
    thread->next = job;
    thread->changed.notify_all();
  }
  const auto wait = [&](std::optional<std::chrono::milliseconds> limit) {
    const gil_released free;
    std::unique_lock lock(thread->mutex);
    if (limit) return thread->changed.wait_for(lock, *limit, [&] { return job->done; });
    thread->changed.wait(lock, [&] { return job->done; });
    return true;
  };
  while (!wait(signal_latency)) {
    if (PyErr_CheckSignals() == 0) continue;
    nb::python_error raised;
    const std::string how = words_for(raised);
    {
      const gil_released free;
      interrupt(how);
    }
    if (abandon) {
      const std::lock_guard lock(thread->mutex);
      thread->closed = true;
    } else {
      wait(std::nullopt);
      give(std::move(thread));
    }
    throw raised;
  }
  give(std::move(thread));
  if (job->failed) std::rethrow_exception(job->failed);
}

void check_signals() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace pgas::python
