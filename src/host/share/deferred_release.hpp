/// @file
/// Releases objects that work of streams may still use: a dropped object is destroyed when all work that the streams of
/// this process had been given by then has run. Used for memory, timelines and events that are shared without a world.
///
/// Which streams have used an object is not known: a program passes an address to a kernel on a stream of its own.
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

  /// Whether no other process stands in the way of the destruction. Asked again until it is so.
  [[nodiscard]] virtual bool can_end() noexcept { return true; }
  /// False in a child of fork(), where the object is a copy that nothing may be done with.
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_.in_creator(); }

 private:
  friend class deferred_release;
  const fork_guard process_;
  std::list<deferred_object*> link_;  ///< its place in a list of dropped objects: drop() needs no memory
};

/// The dropped objects of one kind of streams. *Callers* any thread, with any lock held for drop(), with none for
/// others.
class deferred_release {
 public:
  using take_mark = std::function<std::unique_ptr<enqueued_work>()>;

  /// Of this process, for what streams of the host heap use.
  [[nodiscard]] static deferred_release& of_host_streams();
  /// Of this process, for what streams of GPUs use.
  [[nodiscard]] static deferred_release& of_gpu_streams();
  /// Of this process, for the streams that can use this memory.
  [[nodiscard]] static deferred_release& of_users_of(const sharing_description& memory);

  /// @param mark the work that streams have been given up to the call. Where it throws, it is called again later
  explicit deferred_release(take_mark mark) : mark_(std::move(mark)) {}
  /// Stops; what is still in use stays, for the process is ending.
  ~deferred_release();
  deferred_release(const deferred_release&) = delete;
  deferred_release& operator=(const deferred_release&) = delete;

  /// Destroys the object: at once where the streams are idle, else later, by a thread that runs meanwhile. Does not
  /// wait for streams. A child of fork() leaves its parent's objects alone.
  void drop(deferred_object* object) noexcept;
  /// Destroys what can be by now.
  void collect() noexcept;
  /// The same until nothing is left. False where the time was not enough.
  [[nodiscard]] bool await_all(std::chrono::milliseconds limit) noexcept;
  /// The objects that were dropped and are still there.
  [[nodiscard]] std::size_t kept() const noexcept;
  /// No thread runs after this call, and none is started.
  void stop() noexcept;

 private:
  using objects = std::list<deferred_object*>;
  /// Objects that were dropped before a mark was taken.
  struct batch {
    std::unique_ptr<enqueued_work> mark;
    objects dropped;
  };

  /// Whether the work that a new mark stands for has run within some microseconds.
  [[nodiscard]] bool streams_are_idle() const noexcept;
  void keep(deferred_object* object) noexcept;
  void run() noexcept;

  const take_mark mark_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  objects unmarked_;
  std::list<batch> marked_;
  objects passed_;  ///< by the streams; other processes have them open
  std::size_t kept_ = 0;
  bool running_ = false;
  bool news_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

/// Owns an object whose destruction waits for streams. @param drop called first, with the last owner gone
template <class Object>
[[nodiscard]] std::shared_ptr<Object> share_deferred(deferred_release& by, std::unique_ptr<Object> object,
                                                     void (*drop)(Object&) noexcept = nullptr) {
  return {object.release(), [&by, drop](Object* last) {
            if (drop != nullptr && last->is_of_this_process()) drop(*last);
            by.drop(last);
          }};
}

}  // namespace pgas::detail
