/// @file
/// The transport of one PE of a loopback_network.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "host/transport/loopback/network.hpp"
#include "host/transport/transport.hpp"

namespace pgas::detail {

/// Made by loopback_network::join(). Long puts and gets are carried out in pieces, over several progress() calls, so
/// that whoever is above meets half-done ones.
class loopback_transport final : public transport {
 public:
  loopback_transport(std::shared_ptr<loopback_network> network, int pe);
  ~loopback_transport() override;

  [[nodiscard]] std::string name() const override { return "loopback"; }
  [[nodiscard]] blob address() const override;
  void connect(std::vector<blob> addresses, transport_events& events) override;
  [[nodiscard]] std::string route(int pe) const override;

  [[nodiscard]] std::optional<exposed_memory> expose(void* address, std::size_t bytes, std::string& why_not) override;
  void withdraw(const exposed_memory& memory) noexcept override;
  [[nodiscard]] std::uint64_t import_memory(int pe, std::span<const std::byte> key) override;
  void forget(std::uint64_t imported) noexcept override;

  void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
           transport_token token) override;
  void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
           transport_token token) override;
  void send(int pe, std::span<const std::byte> message, transport_token token) override;
  [[nodiscard]] std::size_t max_message() const noexcept override { return 64 << 10; }

  bool progress() override;
  void wait(std::chrono::milliseconds limit) override;
  void wake() noexcept override;
  void disconnect(std::chrono::milliseconds limit) noexcept override;

 private:
  struct imported_memory {
    int pe;
    std::uint64_t id;
    std::uint64_t bytes;
  };
  /// A message where `memory` is none, else a put or get of which `done` bytes are through.
  struct operation {
    int pe;
    std::optional<loopback_network::direction> memory;
    std::uint64_t id;
    std::uint64_t offset;
    std::byte* local;
    std::size_t bytes;
    transport_token token;
    std::size_t done = 0;
  };

  void check_connected() const;
  void start_copy(loopback_network::direction way, std::uint64_t imported, std::uint64_t offset, std::byte* local,
                  std::size_t bytes, transport_token token);
  [[nodiscard]] bool is_lost(int pe) const { return lost_[static_cast<std::size_t>(pe)]; }
  void lose(int pe, const std::string& why);
  [[nodiscard]] bool open_inbox();
  /// Does a piece of the first operation.
  void carry_on();

  const std::shared_ptr<loopback_network> network_;
  const int pe_;
  transport_events* events_ = nullptr;
  bool left_ = false;
  std::vector<bool> lost_;  ///< who the events were told of
  std::map<std::uint64_t, imported_memory> imported_;
  std::uint64_t next_import_ = 1;
  std::deque<operation> operations_;
};

}  // namespace pgas::detail
