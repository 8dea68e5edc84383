/// @file
/// The thread that reaches PEs beyond load and store: it takes commands from rings, carries them out through a
/// transport, and does what the proxies of other PEs ask of this one.
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

#include "host/heap/proxied_memory.hpp"
#include "host/log/log.hpp"
#include "host/proxy/local_memory.hpp"
#include "host/proxy/ring.hpp"
#include "host/proxy/settings.hpp"
#include "host/transport/transport.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

class proxy_engine;

/// One for each PE that has others beyond load and store. Life: constructor, address() to all others, connect(); then
/// memory and rings come and go; stop(). *Callers* any thread, unless said otherwise. *Errors* what the transport
/// throws comes out of the call that asked for it; what goes wrong later is told once, by proxy_settings::failed.
class proxy final : public proxied_memory {
 public:
  /// `memory` and `logger` outlive the proxy.
  proxy(proxy_settings settings, std::unique_ptr<transport> network, proxy_memory& memory, log::logger& logger);
  /// stop() for a second, if that has not been done.
  ~proxy();
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;

  /// Of the transport, for all PEs.
  [[nodiscard]] blob address() const;
  [[nodiscard]] std::string transport_name() const;
  /// The addresses of all PEs, by world number. Once; starts the thread. *Callers* one.
  void connect(std::vector<blob> addresses);

  // ---- memory: after connect(); other PEs' commands may come as soon as they know of it

  [[nodiscard]] blob expose(std::uint64_t offset, void* at, std::size_t bytes) override;
  void add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) override;
  void remove_memory(std::uint64_t offset) override;

  // ---- rings

  /// On return the proxy takes commands from it. `source` stays where it is until remove_ring().
  void add_ring(ring& source);
  /// On return the proxy does not touch it any more. All its commands should be complete: those that are not are
  /// abandoned, and the buffers that they name have to stay until stop().
  void remove_ring(ring& source);
  /// A thread of the host that has just handed over a command calls it to be served at once; else it takes about a
  /// millisecond where all was quiet before.
  void wake() noexcept;
  /// As long as one lives the proxy does not rest: a thread of the host hands over commands, and waits for them.
  class attention {
   public:
    explicit attention(proxy& of) noexcept : of_(of) {
      of_.attended_.fetch_add(1);  // here and in rest() in one order with `resting_`: one of the two sees the other
      if (of_.resting_.load()) of_.network_->wake();
    }
    ~attention() { of_.attended_.fetch_sub(1, std::memory_order_relaxed); }
    attention(const attention&) = delete;
    attention& operator=(const attention&) = delete;

   private:
    proxy& of_;
  };

  /// Ends the thread and the connections; on return nothing is touched any more. All rings should be quiet and all PEs
  /// have agreed to leave; what is under way all the same is given half of `limit` to complete, and is then abandoned.
  void stop(std::chrono::milliseconds limit) noexcept;

  /// What has been done so far.
  [[nodiscard]] proxy_statistics statistics();

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
  void rest(std::chrono::steady_clock::duration idle);
  void wait_unattended(std::chrono::milliseconds limit);

  const proxy_settings settings_;
  proxy_memory& memory_;
  log::logger& log_;
  std::unique_ptr<transport> network_;
  std::unique_ptr<proxy_engine> engine_;  ///< the buffers that the transport may be using go when it is gone

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::vector<request*> requests_;
  std::vector<own_memory> own_;
  bool running_ = false;
  bool connected_ = false;
  bool said_why_not_ = false;

  std::atomic<int> attended_{0};
  std::atomic<bool> resting_{false};
  std::atomic<bool> has_requests_{false};
  std::atomic<bool> stopping_{false};
  std::chrono::steady_clock::time_point stop_by_{};  ///< written before stopping_
  std::thread thread_;
};

}  // namespace pgas::detail
