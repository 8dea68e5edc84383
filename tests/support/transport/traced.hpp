/// @file
/// A transport that counts operations and writes them to the log at level debug.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "host/log/logger.hpp"
#include "host/transport/transport.hpp"

namespace pgas::testing {

/// The operations of one PE to one peer, and the messages from the peer.
struct traffic {
  std::uint64_t puts = 0;
  std::uint64_t put_bytes = 0;
  std::uint64_t gets = 0;
  std::uint64_t get_bytes = 0;
  std::uint64_t sent = 0;  ///< messages
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;  ///< messages
  std::uint64_t received_bytes = 0;
};

/// Wraps a transport and changes no behaviour.
class traced_transport final : public detail::transport, private detail::transport_events {
 public:
  /// @param log must outlive the transport
  traced_transport(std::unique_ptr<detail::transport> inner, log::logger& log);

  /// *Callers* one thread at a time, as for all functions of a transport.
  [[nodiscard]] const traffic& traffic_with(int pe) const { return traffic_.at(static_cast<std::size_t>(pe)); }

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] blob address() const override { return inner_->address(); }
  void connect(std::vector<blob> addresses, detail::transport_events& events) override;
  [[nodiscard]] std::string route(int pe) const override { return inner_->route(pe); }

  [[nodiscard]] std::optional<detail::exposed_memory> expose(void* address, std::size_t bytes,
                                                             std::string& why_not) override;
  void withdraw(const detail::exposed_memory& memory) noexcept override;
  [[nodiscard]] std::uint64_t import_memory(int pe, std::span<const std::byte> key) override;
  void forget(std::uint64_t imported) noexcept override;

  void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
           detail::transport_token token) override;
  void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
           detail::transport_token token) override;
  void send(int pe, std::span<const std::byte> message, detail::transport_token token) override;
  [[nodiscard]] std::size_t max_message() const noexcept override { return inner_->max_message(); }

  bool progress() override { return inner_->progress(); }
  void wait(std::chrono::nanoseconds limit) override { inner_->wait(limit); }
  void wake() noexcept override { inner_->wake(); }
  void disconnect(std::chrono::milliseconds limit) noexcept override;

 private:
  void message(int from, std::span<const std::byte> bytes) override;
  void done(detail::transport_token token) override;
  void lost(int pe, const std::string& why) override;

  [[nodiscard]] traffic& at(int pe) { return traffic_[static_cast<std::size_t>(pe)]; }

  const std::unique_ptr<detail::transport> inner_;
  log::logger& log_;
  detail::transport_events* events_ = nullptr;
  std::vector<traffic> traffic_;
  std::map<std::uint64_t, int> owners_;  ///< the owners of imported memory
};

}  // namespace pgas::testing
