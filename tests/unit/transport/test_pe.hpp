/// @file
/// PEs that are threads of a test, each with a transport, and a record of their events.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/transport/transport.hpp"

namespace pgas_test {

using pgas::blob;
using pgas::detail::exposed_memory;
using pgas::detail::transport;
using pgas::detail::transport_token;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A kind of transport, and a function that makes the transports of `n` PEs.
struct transport_kind {
  std::string name;
  std::function<std::vector<std::unique_ptr<transport>>(int n)> make;
};
inline void PrintTo(const transport_kind& kind, std::ostream* out) { *out << kind.name; }

/// One PE of a test.
class test_pe final : public pgas::detail::transport_events {
 public:
  using everyone = std::vector<std::unique_ptr<test_pe>>;

  /// The time limit of every wait. The test fails after this time.
  static constexpr seconds timeout{40};

  test_pe(int number, std::unique_ptr<transport> way, const everyone& all, std::atomic<int>& arrived)
      : me(number), link(std::move(way)), all_(all), arrived_(arrived) {}

  const int me;
  std::unique_ptr<transport> link;
  std::vector<std::pair<int, blob>> messages;
  std::map<transport_token, int> done_count;
  std::vector<std::pair<int, std::string>> losses;

  /// Makes progress until `ready()` returns true. After `ready()` has returned true, it is not called again, because a
  /// call can consume the event that it finds. Throws if the time limit is reached.
  /// @param doze the limit of one wait()
  void until(const std::function<bool()>& ready, const char* what, milliseconds doze = seconds(1)) {
    const auto give_up = std::chrono::steady_clock::now() + timeout;
    while (!ready()) {
      if (std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("PE " + std::to_string(me) + " waited in vain for: " + what);
      if (link->progress()) continue;
      if (ready()) return;
      link->wait(doze);
    }
  }

  /// Makes progress until all operations so far are done, each exactly once.
  void until_done() {
    until([&] { return done_count.size() == next_token_ - 1; }, "operations to be done");
    for (const auto& [token, count] : done_count) EXPECT_EQ(count, 1) << "operation " << token;
  }
  void until_messages(std::size_t count) {
    until([&] { return messages.size() >= count; }, "messages");
  }

  /// A barrier of all PEs. Makes progress meanwhile, because other PEs may still need this PE.
  void barrier() {
    const int target = ++barriers_ * static_cast<int>(all_.size());
    if (++arrived_ == target) {
      for (const auto& other : all_) other->link->wake();
    }
    until([&] { return arrived_.load() >= target; }, "the other PEs", milliseconds(100));
  }

  [[nodiscard]] transport_token next_token() { return next_token_++; }
  void send(int pe, const blob& message) { link->send(pe, message, next_token()); }
  void put(std::uint64_t imported, std::uint64_t offset, const void* from, std::size_t bytes) {
    link->put(imported, offset, from, bytes, next_token());
  }
  void get(std::uint64_t imported, std::uint64_t offset, void* to, std::size_t bytes) {
    link->get(imported, offset, to, bytes, next_token());
  }

  /// Exposes memory. Fails the test if that is not possible.
  [[nodiscard]] exposed_memory expose(blob& memory) {
    std::string why_not;
    auto exposed = link->expose(memory.data(), memory.size(), why_not);
    if (!exposed) throw std::runtime_error("not exposed: " + why_not);
    shown_ = exposed->key;
    return *exposed;
  }
  /// Imports the memory that `pe` exposed last before a barrier().
  [[nodiscard]] std::uint64_t import_from(int pe) {
    return link->import_memory(pe, all_[static_cast<std::size_t>(pe)]->shown_);
  }
  [[nodiscard]] const blob& key_of(int pe) const { return all_[static_cast<std::size_t>(pe)]->shown_; }

  void message(int from, std::span<const std::byte> bytes) override {
    messages.emplace_back(from, blob(bytes.begin(), bytes.end()));
    if (on_message) on_message(from, messages.back().second);
  }
  void done(transport_token token) override {
    ++done_count[token];
    if (on_done) on_done(token);
  }
  void lost(int pe, const std::string& why) override { losses.emplace_back(pe, why); }

  std::function<void(int from, const blob& bytes)> on_message;
  std::function<void(transport_token)> on_done;

 private:
  const everyone& all_;
  std::atomic<int>& arrived_;
  int barriers_ = 0;
  transport_token next_token_ = 1;
  blob shown_;
};

/// Runs `body` for each of `n` connected PEs in a separate thread. Then all PEs disconnect at the same time. A loss
/// fails the test unless `may_lose`.
void run_pes(const transport_kind& kind, int n, const std::function<void(test_pe&)>& body, bool may_lose = false);

/// Bytes that depend on the position, the PE and the round.
[[nodiscard]] blob pattern(std::size_t bytes, int pe, int round = 0);

/// Loopback, and the transports that use loopback.
[[nodiscard]] std::vector<transport_kind> kinds_in_one_process();

}  // namespace pgas_test
