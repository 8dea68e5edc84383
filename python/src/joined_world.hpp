/// @file
/// A world as Python holds it. The C++ world is kept until it is left or the process ends, whatever happens to Python
/// objects: dropping a reference is never collective.
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

/// A world, and what Python has allocated in it.
class joined_world : public std::enable_shared_from_this<joined_world> {
 public:
  explicit joined_world(world&& joined);
  joined_world(const joined_world&) = delete;
  joined_world& operator=(const joined_world&) = delete;

  /// Collective, once, before all calls but abort(): memory and a team of its own. *Callers* without the GIL.
  /// @param compares whether this PE wants collectives that block to compare their arguments on the host heap
  void begin(bool compares);

  /// The C++ world. *Errors* not_joined.
  [[nodiscard]] world& get();
  [[nodiscard]] bool left() const { return refuses_; }
  /// While the lock is held, leave() does not release the heap. *Callers* without the GIL. *Errors* not_joined.
  [[nodiscard]] std::shared_lock<std::shared_timed_mutex> hold() {
    std::shared_lock held(in_use_);
    static_cast<void>(get());
    return held;
  }

  /// body(), which may wait for other PEs. Ctrl-C aborts the world, as a collective that one PE has left can't be
  /// completed. *Callers* with the GIL, which is free meanwhile.
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

  /// Collective: an allocation, after memory that all PEs have dropped was freed. The text describes the call for
  /// PEs that make another one. *Callers* without the GIL. *Errors* asymmetric_call, out_of_memory.
  [[nodiscard]] memory allocate(std::size_t bytes, std::size_t alignment, bool zero, const std::string& call);
  /// Collective: frees the memory that all PEs have dropped; returns how many allocations. *Callers* without the GIL.
  std::size_t collect(const std::string& call);
  /// PE `pe`'s part of what lies at [from, from + bytes) here. Nothing if it is proxied. It keeps the allocation alive.
  [[nodiscard]] std::optional<memory> peer(std::uintptr_t from, std::size_t bytes, int pe);
  /// How many allocations are not yet freed, and how many of these this PE has dropped.
  [[nodiscard]] std::pair<std::size_t, std::size_t> allocations() { return memory_->allocations(); }

  /// Takes a stream that Python has dropped, which may have work: destroyed once it is idle, at the latest when the
  /// world is left. Does not wait.
  /// @param held the arrays that its work uses; a reference, which is taken over. *Callers* with the GIL.
  void drop(stream&& one, PyObject* held) noexcept;
  /// Destroys dropped streams that are idle, and lets go of the arrays that they have used. *Callers* with the GIL.
  void release_held() noexcept;
  /// Whether collectives that block compare their arguments: the same on all PEs.
  [[nodiscard]] bool compares() const { return compares_; }
  /// Keeps a team until the world is left: destroying it is collective, dropping the Python object is not.
  void keep(team&& dropped);

  /// Collective: waits for all PEs to come to their end. The world may be aborted meanwhile, while leave(), which is
  /// short then, takes apart what abort() uses. *Callers* without the GIL.
  void await_leave() { detail::await_leave(get()); }
  /// Calls that begin later throw not_joined. *Callers* with the GIL: no call that holds the GIL is in progress then.
  void refuse_calls() noexcept { refuses_ = true; }
  /// Collective: waits for calls in progress and leaves, after await_leave(). Aborts the world where a call does not
  /// end within PGAS_JOIN_TIMEOUT. *Callers* without the GIL.
  void leave();
  /// world::abort().
  void abort(const std::string& reason) noexcept;

 private:
  std::optional<deferred_free> memory_;  ///< its team outlives the world: destroying it before is collective
  std::optional<world> world_;
  const int my_pe_;
  std::atomic<bool> refuses_{false};  ///< calls throw not_joined
  std::atomic<bool> left_{false};     ///< nothing is left that could be aborted
  std::shared_timed_mutex in_use_;

  std::mutex collective_;  ///< one collective call of memory_ at a time

  std::mutex table_;  ///< guards what follows
  std::vector<team> dropped_teams_;
  bool took_teams_ = false;
  struct dropped_stream {
    std::optional<stream> on;
    PyObject* held = nullptr;
  };
  std::vector<dropped_stream> dropped_streams_;
  bool compares_ = false;
};

/// A call of the library by a thread of Python: the GIL is free, and leave() waits for the end of the call. *Callers*
/// with the GIL. *Errors* not_joined.
class library_call {
 public:
  explicit library_call(joined_world& of) : held_(of.hold()) {}

 private:
  gil_released free_;
  std::shared_lock<std::shared_timed_mutex> held_;
};

/// Joins without a thread of Python in between: as world::join(), but Ctrl-C returns at once.
[[nodiscard]] std::shared_ptr<joined_world> join_launched(const config& settings, bool compares);
/// Joins the processes that have the same id.
[[nodiscard]] std::shared_ptr<joined_world> join_by_id(const config& settings, bool compares,
                                                       const std::string& unique_id, int rank, int size);

/// Leaves the worlds of this process at its end, see exit.cpp.
void leave_at_exit(const std::shared_ptr<joined_world>& of);
/// Aborts the worlds that are still joined. *Callers* any thread.
void abort_all(const std::string& reason) noexcept;

/// Waits for all work of a GPU, on all streams of this process. *Errors* device_failed.
void synchronize_gpu(int ordinal);

/// The Python classes World and Stream, and joining.
void bind_world(nanobind::module_& m);
/// World's operations on memory of other PEs.
void bind_operations(nanobind::class_<joined_world>& c);
/// The Python class Team, with collectives.
void bind_teams(nanobind::module_& m, nanobind::class_<joined_world>& c);
/// Sharing by tickets, and timelines.
void bind_sharing(nanobind::module_& m);

/// `stream=` of Python: None is blocking, a number is a cudaStream_t, and there is the class Stream.
class stream_argument {
 public:
  stream_argument(joined_world& of, nanobind::handle given);
  /// The current one of the arrays' library on a GPU; on the host heap null.
  stream_argument(joined_world& of, const array_pair& arrays);
  /// Null: the call blocks.
  [[nodiscard]] const stream* get() const { return owned_ ? &*owned_ : borrowed_; }

 private:
  std::optional<stream> owned_;
  const stream* borrowed_ = nullptr;
};

}  // namespace pgas::python
