/// @file
/// A transport whose functions do nothing. Tests override the functions that they need.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/transport/transport.hpp"

namespace pgas::testing {

class idle_transport : public detail::transport {
 public:
  [[nodiscard]] std::string name() const override { return "idle"; }
  [[nodiscard]] blob address() const override { return {}; }
  void connect(std::vector<blob>, detail::transport_events&) override {}
  [[nodiscard]] std::string route(int) const override { return {}; }
  [[nodiscard]] std::optional<detail::exposed_memory> expose(void*, std::size_t, std::string&) override { return {}; }
  void withdraw(const detail::exposed_memory&) noexcept override {}
  [[nodiscard]] std::uint64_t import_memory(int, std::span<const std::byte>) override { return 0; }
  void forget(std::uint64_t) noexcept override {}
  void put(std::uint64_t, std::uint64_t, const void*, std::size_t, detail::transport_token) override {}
  void get(std::uint64_t, std::uint64_t, void*, std::size_t, detail::transport_token) override {}
  void send(int, std::span<const std::byte>, detail::transport_token) override {}
  [[nodiscard]] std::size_t max_message() const noexcept override { return std::size_t{64} << 10; }
  bool progress() override { return false; }
  void wait(std::chrono::nanoseconds) override {}
  void wake() noexcept override {}
  void disconnect(std::chrono::milliseconds) noexcept override {}
};

}  // namespace pgas::testing
