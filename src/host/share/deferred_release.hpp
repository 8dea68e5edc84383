/// @file
/// Releases objects that the work of streams can still use. A dropped object is destroyed when the streams of this
/// process have completed the work that was enqueued before the drop. Used for memory, timelines and events that are
/// shared without a world.
///
/// The library does not know which streams have used an object, because a program can pass an address to a kernel on
/// any of its streams.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "common/fork_guard.hpp"
#include "device/enqueued_work.hpp"
#include "device/sharing.hpp"

namespace pgas::detail {

/// An object whose destruction waits for streams.
class deferred_object {
 public:
  deferred_object() : link_{this} {}
  virtual ~deferred_object() = default;
  deferred_object(const deferred_object&) = delete;
  deferred_object& operator=(const deferred_object&) = delete;

  /// Whether other processes allow the destruction. The function is called again until it returns true.
  [[nodiscard]] virtual bool can_end() noexcept { return true; }
  /// False in a child of fork(). The child's copy of the object must not be used.
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_.in_creator(); }

 private:
  friend class deferred_release;
  const fork_guard process_;
  /// The object's node in the list of dropped objects. The node is a member, so drop() does not allocate memory.
  std::list<deferred_object*> link_;
};

/// The dropped objects of one kind of streams. *Callers* any thread. The caller of drop() may hold any lock. The
/// callers of the other functions hold no lock.
class deferred_release {
 public:
  using take_mark = std::function<std::unique_ptr<enqueued_work>()>;

  /// The object of this process for memory that streams of the host heap use.
  [[nodiscard]] static deferred_release& of_host_streams();
  /// The object of this process for memory that streams of GPUs use.
  [[nodiscard]] static deferred_release& of_gpu_streams();
  /// The object of this process for the streams that can use this memory.
  [[nodiscard]] static deferred_release& of_users_of(const sharing_description& memory);

  /// @param mark puts a mark after the work that is enqueued on streams. If `mark` throws, the function is called again
  /// later
  explicit deferred_release(take_mark mark) : mark_(std::move(mark)) {}
  /// Calls stop(). Objects that are still in use are not destroyed, because the process ends.
  ~deferred_release();
  deferred_release(const deferred_release&) = delete;
  deferred_release& operator=(const deferred_release&) = delete;

  /// Destroys the object. If the streams are idle, destroys it immediately; if not, later in a background thread. Does
  /// not wait for streams. In a child of fork(), has no effect on objects of the parent.
  void drop(deferred_object* object) noexcept;
  /// Destroys the objects that no stream uses any more.
  void collect() noexcept;
  /// Destroys objects until all objects are destroyed. False if the time limit was reached first.
  [[nodiscard]] bool await_all(std::chrono::milliseconds limit) noexcept;
  /// The number of dropped objects that are not destroyed yet.
  [[nodiscard]] std::size_t kept() const noexcept;
  /// After this call no thread runs and none is started.
  void stop() noexcept;

 private:
  using objects = std::list<deferred_object*>;
  /// Objects that were dropped before a mark.
  struct batch {
    std::unique_ptr<enqueued_work> mark;
    objects dropped;
  };

  /// Whether the work before a new mark completes within idle_answer.
  [[nodiscard]] bool streams_are_idle() const noexcept;
  void keep(deferred_object* object) noexcept;
  void run() noexcept;

  const take_mark mark_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable wake_;
  objects unmarked_;
  std::list<batch> marked_;
  objects passed_;  ///< objects that streams no longer use, and that other processes still have open
  std::size_t kept_ = 0;
  bool running_ = false;
  bool news_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

/// Owns an object whose destruction waits for streams. @param drop called when the last owner releases the object,
/// before the wait for streams
template <class Object>
[[nodiscard]] std::shared_ptr<Object> share_deferred(deferred_release& by, std::unique_ptr<Object> object,
                                                     void (*drop)(Object&) noexcept = nullptr) {
  return {object.release(), [&by, drop](Object* last) {
            if (drop != nullptr && last->is_of_this_process()) drop(*last);
            by.drop(last);
          }};
}

}  // namespace pgas::detail
