/// @file
/// PEs in one thread. A test runs their engines one after another.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "host/proxy/progress_engine.hpp"
#include "support/transport/loopback.hpp"
#include "unit/proxy/lazy_device.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {

inline constexpr std::size_t slot_bytes = std::size_t{4} << 20;

class stepped_world {
 public:
  explicit stepped_world(int n, bool keys = true, std::uint32_t log2_commands = 11,
                         const detail::pinned_sizes* pinned = nullptr)
      : network_(std::make_shared<loopback_network>(n)) {
    std::vector<blob> addresses;
    for (int me = 0; me < n; ++me) {
      pes_.push_back(std::make_unique<stepped_pe>(me, n, network_->join(me), log2_commands, pinned));
      addresses.push_back(pes_.back()->network->address());
    }
    for (const auto& each : pes_) {
      each->network->connect(addresses, each->engine);
      each->engine.add_ring(each->ring.consumer());
    }
    for (int owner = 0; keys && owner < n; ++owner) {
      stepped_pe& mine = at(owner);
      std::string why_not;
      const auto exposed = mine.network->expose(mine.slot.data(), slot_bytes, why_not);
      for (const auto& each : pes_) each->engine.add_peer_memory(owner, 0, slot_bytes, exposed.value().key);
    }
  }
  ~stepped_world() {
    for (const auto& each : pes_) {
      each->engine.finish();
      each->network->disconnect(std::chrono::seconds(1));
    }
  }
  stepped_world(const stepped_world&) = delete;
  stepped_world& operator=(const stepped_world&) = delete;

  /// Runs turns of one PE until its transport has sent all that it can send without the other PEs.
  void send_all(int pe) {
    for (int i = 0; i < 100; ++i) turn(pe);
  }
  bool turn(int pe) { return at(pe).engine.progress(); }
  /// Runs one turn of each PE.
  void round() {
    for (const auto& each : pes_) each->engine.progress();
  }
  /// Runs rounds until nothing is in flight. Returns the number of rounds.
  int rounds_to_idle() {
    for (int count = 1; count < 100'000; ++count) {
      round();
      bool idle = true;
      for (const auto& each : pes_) idle = idle && each->engine.idle();
      if (idle) return count;
    }
    ADD_FAILURE() << "it does not become idle";
    return 0;
  }
  [[nodiscard]] producer produce(int pe) { return producer(at(pe).ring.producers()); }
  [[nodiscard]] std::uint64_t& word(int pe, std::uint64_t offset) { return at(pe).slot[offset / 8]; }
  [[nodiscard]] std::byte* slot(int pe) { return reinterpret_cast<std::byte*>(at(pe).slot.data()); }
  [[nodiscard]] detail::transport& transport(int pe) { return *at(pe).network; }
  [[nodiscard]] detail::progress_engine& engine(int pe) { return at(pe).engine; }
  [[nodiscard]] lazy_device& device(int pe) { return at(pe).device; }
  [[nodiscard]] int& failures(int pe) { return at(pe).failures; }

 private:
  struct stepped_pe {
    stepped_pe(int me, int n, std::unique_ptr<detail::transport> transport, std::uint32_t log2_commands,
               const detail::pinned_sizes* pinned)
        : slot(slot_bytes / 8),
          settings{me, n, reinterpret_cast<std::byte*>(slot.data()),
                   [](std::uint64_t offset, std::uint64_t bytes) {
                     return offset <= slot_bytes && bytes <= slot_bytes - offset;
                   },
                   [this](int, const std::string&) { ++failures; }},
          ring(log2_commands, 4),
          memory(pinned != nullptr ? detail::make_device_memory_access(device, *pinned)
                                   : detail::make_host_memory_access()),
          network(std::move(transport)),
          engine(settings, *network, *memory) {}

    std::vector<std::uint64_t> slot;
    int failures = 0;
    detail::proxy_settings settings;
    detail::host_ring ring;
    lazy_device device;
    std::unique_ptr<detail::memory_access> memory;
    std::unique_ptr<detail::transport> network;
    detail::progress_engine engine;
  };
  [[nodiscard]] stepped_pe& at(int number) { return *pes_[static_cast<std::size_t>(number)]; }

  std::shared_ptr<loopback_network> network_;
  std::deque<std::unique_ptr<stepped_pe>> pes_;
};

}  // namespace pgas::testing
