/// @file
/// The world object of Python. The C++ world exists until the PE leaves the world or the process ends. It does not
/// depend on Python objects, because leaving is collective and dropping a reference is local.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "array_library.hpp"
#include "deferred_free.hpp"
#include "interrupt.hpp"
#include "memory_class.hpp"
#include "pgas/compat_support.hpp"
#include "pgas/pgas.hpp"

namespace pgas::python {

/// A world, and the memory that Python has allocated in the world.
class joined_world : public std::enable_shared_from_this<joined_world> {
 public:
  explicit joined_world(world&& joined);
  joined_world(const joined_world&) = delete;
  joined_world& operator=(const joined_world&) = delete;

  /// Collective, called once, before all calls except abort(): allocates internal memory and creates a team. *Callers*
  /// without the GIL.
  /// @param compares whether this PE requests that blocking collectives compare their arguments on the host heap
  void begin(bool compares);

  /// The C++ world. *Errors* not_joined.
  [[nodiscard]] world& get();
  [[nodiscard]] bool left() const { return refuses_; }
  /// Returns a lock. While the lock is held, leave() does not release the heap. *Callers* without the GIL. *Errors*
  /// not_joined.
  [[nodiscard]] std::shared_lock<std::shared_timed_mutex> hold() {
    std::shared_lock held(in_use_);
    static_cast<void>(get());
    return held;
  }

  /// Calls body(), which may wait for other PEs. Ctrl-C aborts the world, because a collective can't be completed
  /// without this PE. *Callers* with the GIL. The GIL is released during the call.
  template <class Body>
  auto blocking(const Body& body) {
    static_cast<void>(get());
    return interruptible(
        [&] {
          const auto held = hold();
          return body();
        },
        [this](const std::string& how) { world_->abort(how + " on PE " + std::to_string(my_pe_)); });
  }

  /// Collective: frees memory that all PEs have dropped, then allocates. `call` describes the call, for the error that
  /// is thrown if PEs make different calls. *Callers* without the GIL. *Errors* asymmetric_call, out_of_memory.
  [[nodiscard]] memory allocate(std::size_t bytes, std::size_t alignment, bool zero, const std::string& call);
  /// Collective: frees the memory that all PEs have dropped. @return The number of freed allocations. *Callers* without
  /// the GIL.
  std::size_t collect(const std::string& call);
  /// PE `pe`'s copy of the memory [from, from + bytes) of this PE; nothing if PE `pe` is proxied. The result keeps the
  /// allocation alive.
  [[nodiscard]] std::optional<memory> peer(std::uintptr_t from, std::size_t bytes, int pe);
  /// The number of allocations that are not yet freed, and how many of these allocations this PE has dropped.
  [[nodiscard]] std::pair<std::size_t, std::size_t> allocations() { return memory_->allocations(); }

  /// Takes a stream that Python has dropped and that may have unfinished work. The stream is destroyed when it is idle,
  /// or when the PE leaves the world. Does not wait.
  /// @param held the arrays that the work of the stream uses; the function takes over the reference. *Callers* with the
  /// GIL.
  void drop(stream&& one, PyObject* held) noexcept;
  /// Destroys dropped streams that are idle, and releases the arrays that they have used. *Callers* with the GIL.
  void release_held() noexcept;
  /// Whether blocking collectives compare their arguments: the same on all PEs.
  [[nodiscard]] bool compares() const { return compares_; }
  /// Keeps a team until the PE leaves the world, because destroying a team is collective, but dropping the Python
  /// object is local.
  void keep(team&& dropped);

  /// Collective: returns when all PEs are leaving the world. abort() can end this wait. The call of leave() that
  /// follows destroys the objects that abort() uses, and takes little time. *Callers* without the GIL.
  void await_leave() { detail::await_leave(get()); }
  /// Calls that begin later throw not_joined. *Callers* with the GIL, so no call that holds the GIL is in progress.
  void refuse_calls() noexcept { refuses_ = true; }
  /// Collective, called after await_leave(): waits until the calls in progress have returned, then leaves the world.
  /// Aborts the world if a call does not end within PGAS_JOIN_TIMEOUT. *Callers* without the GIL.
  void leave();
  /// Calls world::abort().
  void abort(const std::string& reason) noexcept;

 private:
  /// Declared before `world_`, so that the team in this object is destroyed after the world. Destroying a team before
  /// the world is collective.
  std::optional<deferred_free> memory_;
  std::optional<world> world_;
  const int my_pe_;
  std::atomic<bool> refuses_{false};  ///< calls throw not_joined
  std::atomic<bool> left_{false};     ///< abort() has no effect
  std::shared_timed_mutex in_use_;

  std::mutex collective_;  ///< allows one collective call of memory_ at a time

  std::mutex table_;  ///< guards the following members
  std::vector<team> dropped_teams_;
  bool took_teams_ = false;
  struct dropped_stream {
    std::optional<stream> on;
    PyObject* held = nullptr;
  };
  std::vector<dropped_stream> dropped_streams_;
  bool compares_ = false;
};

/// The scope of a call of the library by a Python thread. The object releases the GIL during its lifetime, and leave()
/// waits until the object is destroyed. *Callers* with the GIL. *Errors* not_joined.
class library_call {
 public:
  explicit library_call(joined_world& of) : held_(of.hold()) {}

 private:
  gil_released free_;
  std::shared_lock<std::shared_timed_mutex> held_;
};

/// Joins as world::join() does. After Ctrl-C the call returns immediately.
[[nodiscard]] std::shared_ptr<joined_world> join_launched(const config& settings, bool compares);
/// Joins the processes that pass the same `unique_id`.
[[nodiscard]] std::shared_ptr<joined_world> join_by_id(const config& settings, bool compares,
                                                       const std::string& unique_id, int rank, int size);

/// Leaves the worlds of this process when the process ends (exit.cpp).
void leave_at_exit(const std::shared_ptr<joined_world>& of);
/// Aborts the worlds that are still joined. *Callers* any thread.
void abort_all(const std::string& reason) noexcept;

/// Waits for all work of a GPU, on all streams of this process. *Errors* device_failed.
void synchronize_gpu(int ordinal);

/// The Python classes World and Stream, and joining.
void bind_world(nanobind::module_& m);
/// Operations of the class World on memory of other PEs.
void bind_operations(nanobind::class_<joined_world>& c);
/// The Python class Team, with collectives.
void bind_teams(nanobind::module_& m, nanobind::class_<joined_world>& c);
/// Sharing by tickets, and timelines.
void bind_sharing(nanobind::module_& m);

/// The argument `stream=` of Python: None for a blocking call, a cudaStream_t as a number, or an object of the class
/// Stream.
class stream_argument {
 public:
  stream_argument(joined_world& of, nanobind::handle given);
  /// On a GPU, selects the current stream of the library that the arrays belong to. On the host heap, selects no
  /// stream.
  stream_argument(joined_world& of, const array_pair& arrays);
  /// The stream; null if the call blocks.
  [[nodiscard]] const stream* get() const { return owned_ ? &*owned_ : borrowed_; }

 private:
  std::optional<stream> owned_;
  const stream* borrowed_ = nullptr;
};

}  // namespace pgas::python
