/// @file
/// A transport with the worst behaviour that the contract allows, for tests of the proxy above it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "host/transport/transport.hpp"

namespace pgas::testing {

struct faulty_settings {
  std::uint32_t seed = 1;  ///< the same seed and calls have the same result
  unsigned delay = 8;      ///< operations, messages and completions are delayed by up to this many progress() calls
  int victim = -1;         ///< a PE that this PE loses; -1: none
  /// The number of operations and messages to the victim that are executed; all later ones are dropped.
  std::uint64_t fail_after = 0;
};

/// Wraps a transport. Delays operations and completions by random times, so that an operation can overtake any other
/// operation. Splits each put into two parts and executes the last part first. Loses a PE.
class faulty_transport final : public detail::transport, private detail::transport_events {
 public:
  faulty_transport(std::unique_ptr<detail::transport> inner, const faulty_settings& settings);

  [[nodiscard]] std::string name() const override { return "faulty " + inner_->name(); }
  [[nodiscard]] blob address() const override { return inner_->address(); }
  void connect(std::vector<blob> addresses, detail::transport_events& events) override;
  [[nodiscard]] std::string route(int pe) const override { return inner_->route(pe); }

  [[nodiscard]] std::optional<detail::exposed_memory> expose(void* address, std::size_t bytes,
                                                             std::string& why_not) override;
  void withdraw(const detail::exposed_memory& memory) noexcept override { inner_->withdraw(memory); }
  [[nodiscard]] std::uint64_t import_memory(int pe, std::span<const std::byte> key) override;
  void forget(std::uint64_t imported) noexcept override;

  void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
           detail::transport_token token) override;
  void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
           detail::transport_token token) override;
  void send(int pe, std::span<const std::byte> message, detail::transport_token token) override;
  [[nodiscard]] std::size_t max_message() const noexcept override { return inner_->max_message(); }

  bool progress() override;
  void wait(std::chrono::nanoseconds limit) override;
  void wake() noexcept override { inner_->wake(); }
  void disconnect(std::chrono::milliseconds limit) noexcept override;

 private:
  enum class kind { put, get, send, message, done };

  /// A delayed part of an operation, or a delayed event.
  struct delayed {
    kind what;
    int pe;
    std::uint64_t due;  ///< the number of the progress() call that releases the part or the event
    std::uint64_t imported = 0;
    std::uint64_t offset = 0;
    std::byte* local = nullptr;
    std::size_t bytes = 0;
    std::uint64_t operation = 0;
    blob message{};
  };
  /// An operation that is not done.
  struct operation {
    int pe;
    detail::transport_token token;
    int parts;
  };

  void message(int from, std::span<const std::byte> bytes) override;
  void done(detail::transport_token token) override;
  void lost(int pe, const std::string& why) override;

  [[nodiscard]] int owner_of(std::uint64_t imported) const;
  /// Whether an operation to `pe` is to be executed. Counts the operation.
  [[nodiscard]] bool admit(int pe);
  [[nodiscard]] std::uint64_t begin(int pe, detail::transport_token token, int parts);
  void delay(delayed item);
  void release(const delayed& item);

  const std::unique_ptr<detail::transport> inner_;
  const faulty_settings settings_;
  detail::transport_events* events_ = nullptr;
  std::mt19937 random_;
  std::uint64_t calls_ = 0;                ///< the number of progress() calls
  std::uint64_t to_victim_ = 0;            ///< operations and messages admitted
  std::optional<std::uint64_t> fails_at_;  ///< the progress() call that loses the victim, set by the first drop
  std::vector<bool> lost_;                 ///< reported to the events
  std::map<std::uint64_t, int> owners_;
  std::map<std::uint64_t, operation> operations_;
  std::uint64_t next_operation_ = 1;
  std::vector<delayed> delayed_;
};

}  // namespace pgas::testing
