/// @file
/// PEs of one process that are all proxied to one another.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "pgas/detail/failure_record.hpp"
#include "support/transport/faulty.hpp"
#include "support/transport/loopback.hpp"
#include "unit/proxy/lazy_device.hpp"
#include "unit/proxy/producer.hpp"

namespace pgas::testing {

/// A kind of network and memory with which tests run.
struct variant {
  const char* name;
  std::uint32_t seed = 0;  ///< the seed of a faulty network; 0: only loopback
  bool keys = true;        ///< the transport may execute puts and gets
  bool staged = false;     ///< the memory belongs to a lazy device
  detail::pinned_sizes pinned{};
};
inline constexpr variant variants[] = {{.name = "direct"},
                                       {.name = "messages", .keys = false},
                                       {.name = "staged", .keys = true, .staged = true},
                                       {.name = "faulty", .seed = 7},
                                       {.name = "faulty_messages", .seed = 11, .keys = false},
                                       {.name = "faulty_staged",
                                        .seed = 13,
                                        .keys = false,
                                        .staged = true,
                                        .pinned = {.staging_bytes = 10'000, .updates = 3, .buffer_bytes = 1}}};
inline std::string variant_name(const ::testing::TestParamInfo<variant>& info) { return info.param.name; }

/// A PE with a slot, a ring and a proxy.
class proxied_pe {
 public:
  proxied_pe(int me, int n, std::size_t slot_bytes, std::unique_ptr<detail::transport> network, const variant& how,
             detail::proxy_settings settings)
      : slot_(slot_bytes / 8), ring_(8, 6), log_(log_level::warn) {
    if (how.staged) device_ = std::make_unique<lazy_device>();
    memory_ = how.staged ? detail::make_device_memory_access(*device_, how.pinned) : detail::make_host_memory_access();
    settings.me = me;
    settings.n = n;
    settings.slot = slot();
    settings.bell = &control_.bell;
    settings.contains = [slot_bytes](std::uint64_t offset, std::uint64_t bytes) {
      return offset <= slot_bytes && bytes <= slot_bytes - offset;
    };
    settings.failed = [this](int pe, const std::string& what) {
      const std::lock_guard lock(mutex_);
      failures_.emplace_back(pe, what);
    };
    proxy_.emplace(std::move(settings), std::move(network), *memory_, log_);
  }

  [[nodiscard]] std::byte* slot() { return reinterpret_cast<std::byte*>(slot_.data()); }
  [[nodiscard]] std::uint64_t& word(std::uint64_t offset) { return slot_[offset / 8]; }
  [[nodiscard]] std::size_t slot_bytes() const { return slot_.size() * 8; }
  [[nodiscard]] detail::proxy_thread& proxy() { return *proxy_; }
  [[nodiscard]] detail::host_ring& ring() { return ring_; }
  [[nodiscard]] detail::control_block& control() { return control_; }
  [[nodiscard]] producer produce() const { return producer(ring_.producers()); }
  [[nodiscard]] std::vector<std::pair<int, std::string>> failures() {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

 private:
  std::vector<std::uint64_t> slot_;
  detail::control_block control_{};
  detail::host_ring ring_;
  log::logger log_;
  std::unique_ptr<detail::device> device_;
  std::unique_ptr<detail::memory_access> memory_;
  std::mutex mutex_;  ///< guards failures_
  std::vector<std::pair<int, std::string>> failures_;
  std::optional<detail::proxy_thread> proxy_;
};

/// `n` connected PEs.
class proxied_world {
 public:
  explicit proxied_world(int n, const variant& how = variants[0], std::size_t slot_bytes = std::size_t{4} << 20,
                         const detail::proxy_settings& settings = {})
      : network_(std::make_shared<loopback_network>(n)) {
    std::vector<blob> addresses;
    for (int pe = 0; pe < n; ++pe) {
      std::unique_ptr<detail::transport> transport = network_->join(pe);
      if (how.seed != 0) {
        faulty_settings faults;
        faults.seed = how.seed + static_cast<std::uint32_t>(pe);
        transport = std::make_unique<faulty_transport>(std::move(transport), faults);
      }
      pes_.push_back(std::make_unique<proxied_pe>(pe, n, slot_bytes, std::move(transport), how, settings));
      addresses.push_back(pes_.back()->proxy().address());
    }
    for (const auto& each : pes_) each->proxy().connect(addresses);
    for (int owner = 0; how.keys && owner < n; ++owner) {
      const blob key = (*this)[owner].proxy().expose(0, (*this)[owner].slot(), slot_bytes);
      for (int pe = 0; pe < n; ++pe) {
        if (pe != owner) (*this)[pe].proxy().add_peer_memory(owner, 0, slot_bytes, key);
      }
    }
    for (const auto& each : pes_) each->proxy().add_ring(each->ring().consumer());
  }
  ~proxied_world() {
    for (const auto& each : pes_) each->proxy().stop(std::chrono::seconds(20));
    if (expects_failures_) return;
    for (const auto& each : pes_) {
      for (const auto& [pe, what] : each->failures()) ADD_FAILURE() << "PE " << pe << ": " << what;
    }
  }
  proxied_world(const proxied_world&) = delete;
  proxied_world& operator=(const proxied_world&) = delete;

  [[nodiscard]] proxied_pe& operator[](int pe) { return *pes_[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] int size() const { return static_cast<int>(pes_.size()); }
  [[nodiscard]] loopback_network& network() { return *network_; }
  void expect_failures() { expects_failures_ = true; }

 private:
  std::shared_ptr<loopback_network> network_;
  std::vector<std::unique_ptr<proxied_pe>> pes_;
  bool expects_failures_ = false;
};

/// Bytes that depend on the position and `seed`.
[[nodiscard]] inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> result(bytes);
  std::uint32_t x = seed * 2654435761u + 1;
  for (std::byte& b : result) {
    x = x * 1664525u + 1013904223u;
    b = static_cast<std::byte>(x >> 24);
  }
  return result;
}

}  // namespace pgas::testing
