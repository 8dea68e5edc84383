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

/// One for each PE that has proxied peers. Life: constructor, address() to all other PEs, connect(); then memory and
/// rings are added and removed; stop(). *Callers* any thread, unless said otherwise. *Errors* those of the transport in
/// the call that uses it; later failures are reported once, by proxy_settings::failed.
class proxy_thread final : public memory_exposure {
 public:
  /// `memory` and `logger` outlive the proxy.
  proxy_thread(proxy_settings settings, std::unique_ptr<transport> network, memory_access& memory, log::logger& logger);
  /// Calls stop() with a limit of a second, unless it has been called.
  ~proxy_thread();
  proxy_thread(const proxy_thread&) = delete;
  proxy_thread& operator=(const proxy_thread&) = delete;

  /// The address of the transport, for all PEs.
  [[nodiscard]] blob address() const;
  [[nodiscard]] std::string transport_name() const;
  /// @param addresses of all PEs, by world number. Once; starts the thread. *Callers* one.
  void connect(std::vector<blob> addresses);

  // ---- memory: after connect(); other PEs' operations may come as soon as they have the key

  /// Makes [at, at + bytes), at `offset` of this PE's slot, accessible to the transports of other PEs. Returns the key
  /// for their add_peer_memory(). Empty where the transport can't access the memory: data then travels in messages, and
  /// the reason is logged once.
  [[nodiscard]] blob expose(std::uint64_t offset, void* at, std::size_t bytes) override;
  /// @param key as expose() of that PE returned it; an empty one is ignored. On return commands use the memory.
  /// *Errors* handle_invalid for a malformed key, pe_out_of_range.
  void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) override;
  /// Ends expose() and add_peer_memory() for memory at `offset`. All PEs have agreed that it is not in use.
  void remove_memory(std::uint64_t offset) override;

  // ---- rings

  /// On return the proxy takes commands from it. `source` stays where it is until remove_ring().
  void add_ring(ring& source);
  /// On return the proxy uses the ring no longer. All its commands should be complete. Incomplete ones are abandoned,
  /// and their buffers have to stay until stop().
  void remove_ring(ring& source);
  /// Has the proxy look at its rings at once; an idle one takes about a millisecond to do so. For threads of the host.
  void wake() noexcept;
  /// Keeps the proxy polling while it lives, for a thread of the host that waits for its commands.
  class keep_polling {
   public:
    explicit keep_polling(proxy_thread& of) noexcept : of_(of) { of_.pollers_.fetch_add(1, std::memory_order_relaxed); }
    ~keep_polling() { of_.pollers_.fetch_sub(1, std::memory_order_relaxed); }
    keep_polling(const keep_polling&) = delete;
    keep_polling& operator=(const keep_polling&) = delete;

   private:
    proxy_thread& of_;
  };

  /// Ends the thread and the connections; on return no ring and no memory is used any more. All rings should be idle,
  /// and all PEs have agreed to leave. Commands still in flight have half of `limit` to complete and are then
  /// abandoned.
  void stop(std::chrono::milliseconds limit) noexcept;

  /// Counts so far. Waits for nothing, as its caller may be needed by those who wait for the proxy.
  [[nodiscard]] proxy_statistics statistics() const;
  /// The same, of commands for PE `pe`.
  [[nodiscard]] command_counts commands_to(int pe) const;

  /// Has the proxy look at the commands for whose answers producers wait; awaited() has them a little later. Waits for
  /// nobody.
  void ask_awaited() noexcept;
  /// What it saw last: the oldest of each ring.
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
  std::unique_ptr<progress_engine> engine_;  ///< destroyed after the transport, which may be using its buffers

  std::mutex mutex_;  ///< guards the members up to logged_why_not_
  std::condition_variable changed_;
  std::vector<request*> requests_;
  std::vector<own_memory> own_;
  std::vector<awaited_command> awaited_;
  bool running_ = false;
  bool connected_ = false;
  bool logged_why_not_ = false;

  std::atomic<int> pollers_{0};            ///< keep_polling objects
  std::atomic<bool> has_requests_{false};  ///< or asked_
  std::atomic<bool> asked_{false};
  std::atomic<bool> stopping_{false};
  std::chrono::steady_clock::time_point stop_by_{};  ///< written before stopping_
  std::thread thread_;
};

}  // namespace pgas::detail
