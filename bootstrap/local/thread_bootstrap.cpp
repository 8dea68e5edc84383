#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/hub/world_hub.hpp"
#include "common/fork_guard.hpp"
#include "common/thread.hpp"
#include "pgas/error.hpp"

namespace pgas {
namespace boot {
namespace {

/// The hub of PEs that are threads of this process. The hub runs in a separate thread.
class thread_hub {
 public:
  explicit thread_hub(int n) : center_(loop_, n) {}
  ~thread_hub() {
    stopping_ = true;
    loop_.wake();
    if (!thread_.joinable()) return;
    if (process_.in_creator())
      thread_.join();
    else
      thread_.detach();
  }
  thread_hub(const thread_hub&) = delete;
  thread_hub& operator=(const thread_hub&) = delete;

  /// Returns the member's end of its connection to the hub. *Callers* before start().
  [[nodiscard]] unique_fd attach(int rank) {
    auto [mine, hubs] = socket_pair();
    center_.attach(rank, std::move(hubs));
    return std::move(mine);
  }
  void start() {
    thread_ = start_thread("pgas-hub", [this] { run(); });
  }

 private:
  void run() {
    try {
      while (!stopping_) {
        loop_.run_once(center_.due());
        if (center_.due() && *center_.due() <= clock::now()) center_.expire();
      }
    } catch (const std::exception&) {  // out of memory; the members end by their time limits
    }
  }

  const fork_guard process_;
  event_loop loop_;
  world_hub center_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class thread_member final : public hub_client {
 public:
  thread_member(std::shared_ptr<thread_hub> hub, int rank, int n, milliseconds timeout)
      : hub_client(hub->attach(rank), rank, n, timeout, {"the thread that connects the others", -1}),
        hub_(std::move(hub)) {}
  ~thread_member() override { leave(); }

 private:
  std::shared_ptr<thread_hub> hub_;
};

/// The bootstrap of a world of one PE.
class single_pe final : public bootstrap {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    check_contribution(mine.size(), 0);
    return {blob(mine.begin(), mine.end())};
  }
  void barrier() override {}
  void abort(std::string_view) noexcept override {}
};

}  // namespace
}  // namespace boot

std::vector<std::unique_ptr<bootstrap>> make_thread_bootstraps(int n, std::chrono::milliseconds timeout) {
  if (n < 1)
    throw error{code::invalid_argument, fmt::format("make_thread_bootstraps: n is {}; at least 1 is needed", n)};
  std::vector<std::unique_ptr<bootstrap>> members;
  if (n == 1) {
    members.push_back(std::make_unique<boot::single_pe>());
    return members;
  }
  const auto hub = std::make_shared<boot::thread_hub>(n);
  for (int rank = 0; rank < n; ++rank) members.push_back(std::make_unique<boot::thread_member>(hub, rank, n, timeout));
  hub->start();
  return members;
}

}  // namespace pgas
