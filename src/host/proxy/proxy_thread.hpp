/// @file
/// The proxy: a thread that takes commands for proxied PEs from rings, executes them through a transport, and executes
/// the operations that the proxies of other PEs send.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "host/heap/memory_exposure.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/in_flight_commands.hpp"
#include "host/proxy/memory_access.hpp"
#include "host/proxy/proxy_settings.hpp"
#include "host/proxy/proxy_statistics.hpp"
#include "host/proxy/ring.hpp"
#include "host/transport/transport.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

class progress_engine;

/// One object for each PE that has proxied peers. The order of calls: the constructor; address(), whose result is sent
/// to all other PEs; connect(); functions that add and remove memory and rings; stop(). *Callers* any thread, unless
/// stated otherwise. *Errors* a call that uses the transport throws the transport's errors. Later failures are reported
/// once, by proxy_settings::failed.
class proxy_thread final : public memory_exposure {
 public:
  /// `memory` and `logger` must outlive the proxy.
  proxy_thread(proxy_settings settings, std::unique_ptr<transport> network, memory_access& memory, log::logger& logger);
  /// Calls stop() with a limit of one second, unless stop() has been called before.
  ~proxy_thread();
  proxy_thread(const proxy_thread&) = delete;
  proxy_thread& operator=(const proxy_thread&) = delete;

  /// The address of the transport, which all other PEs need.
  [[nodiscard]] blob address() const;
  [[nodiscard]] std::string transport_name() const;
  /// Starts the thread. Called once. @param addresses the addresses of all PEs, indexed by the PE's number in the
  /// world. *Callers* one thread.
  void connect(std::vector<blob> addresses);

  // ---- memory, after connect(). Operations of other PEs can arrive as soon as these PEs have the key.

  /// Makes [at, at + bytes), at `offset` of this PE's slot, accessible to the transports of other PEs. Returns the key
  /// that other PEs pass to add_peer_memory(). The key is empty if the transport cannot access the memory. In that
  /// case, data travels in messages, and the reason is logged once.
  [[nodiscard]] blob expose(std::uint64_t offset, void* at, std::size_t bytes) override;
  /// Makes memory of another PE known. After the return, commands use the memory.
  /// @param key the key that expose() of that PE returned; an empty key is ignored.
  /// *Errors* handle_invalid for a malformed key, pe_out_of_range.
  void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) override;
  /// Reverses expose() and add_peer_memory() for the memory at `offset`. All PEs have agreed that the memory is not in
  /// use.
  void remove_memory(std::uint64_t offset) override;

  // ---- rings

  /// On return the proxy takes commands from the ring. `source` must not move until remove_ring().
  void add_ring(ring& source);
  /// On return the proxy does not use the ring any more. All commands should be complete. Incomplete commands are
  /// abandoned, and their buffers must stay valid until stop().
  void remove_ring(ring& source);
  /// Makes the proxy check its rings immediately. Without this call an idle proxy checks them within about a
  /// millisecond. For threads of the host.
  void wake() noexcept;
  /// While an object of this class exists, the proxy polls. A thread of the host makes such an object while it waits
  /// for commands.
  class keep_polling {
   public:
    explicit keep_polling(proxy_thread& proxy) noexcept : of_(proxy) {
      of_.pollers_.fetch_add(1, std::memory_order_relaxed);
    }
    ~keep_polling() { of_.pollers_.fetch_sub(1, std::memory_order_relaxed); }
    keep_polling(const keep_polling&) = delete;
    keep_polling& operator=(const keep_polling&) = delete;

   private:
    proxy_thread& of_;
  };

  /// Ends the thread and the connections. On return no ring and no memory is used any more. All rings should be idle,
  /// and all PEs must have agreed to leave. Commands in flight have half of `limit` to complete, and are then
  /// abandoned.
  void stop(std::chrono::milliseconds limit) noexcept;

  /// The current counts. Never blocks: a thread that waits for the proxy can depend on the calling thread.
  [[nodiscard]] proxy_statistics statistics() const;
  /// The current counts of commands for PE `pe`.
  [[nodiscard]] command_counts commands_to(int pe) const;

  /// Makes the proxy observe the commands for whose answers producers wait. awaited() returns the result a little
  /// later. Does not wait.
  void ask_awaited() noexcept;
  /// The result of the last observation: the oldest command of each ring.
  [[nodiscard]] std::vector<awaited_command> awaited();

 private:
  struct request {
    const std::function<void()>& task;
    std::exception_ptr thrown;
    bool done = false;
  };
  struct own_memory {
    std::uint64_t offset;
    void* at;
    exposed_memory exposed;
  };

  void on_thread(const std::function<void()>& task);
  void run_requests(std::unique_lock<std::mutex>& lock);
  void run();
  void work();
  void idle_wait(std::chrono::steady_clock::duration idle);
  void wait(std::chrono::nanoseconds limit);

  const proxy_settings settings_;
  proxy_bell own_bell_{};
  proxy_bell& bell_;
  memory_access& memory_;
  log::logger& log_;
  std::unique_ptr<transport> network_;
  std::unique_ptr<progress_engine> engine_;  ///< destroyed after the transport, which can use the engine's buffers

  std::mutex mutex_;  ///< guards the members up to logged_why_not_
  std::condition_variable changed_;
  std::vector<request*> requests_;
  std::vector<own_memory> own_;
  std::vector<awaited_command> awaited_;
  bool running_ = false;
  bool connected_ = false;
  bool logged_why_not_ = false;

  std::atomic<int> pollers_{0};            ///< the number of keep_polling objects
  std::atomic<bool> has_requests_{false};  ///< also set with asked_
  std::atomic<bool> asked_{false};
  std::atomic<bool> stopping_{false};
  std::chrono::steady_clock::time_point stop_by_{};  ///< written before stopping_
  std::thread thread_;
};

}  // namespace pgas::detail
