/// @file
/// A transport that is as bad as the contract allows: for tests of what relies on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "host/transport/transport.hpp"

namespace pgas::detail {

struct faulty_settings {
  std::uint32_t seed = 1;  ///< the same seed and calls do the same
  unsigned hold = 8;       ///< operations, messages and completions are held back for up to so many progress() calls
  int victim = -1;         ///< a PE that is lost, as seen from here; -1: none
  std::uint64_t fail_after = 0;  ///< so many operations and messages to the victim are carried out, later ones dropped
};

/// Wraps a transport. Holds back what is to be done and what has been done, each by a random while, so that everything
/// passes everything else; carries out a put in pieces, last ones first; and loses a PE.
class faulty_transport final : public transport, private transport_events {
 public:
  faulty_transport(std::unique_ptr<transport> inner, const faulty_settings& settings);

  [[nodiscard]] std::string name() const override { return "faulty " + inner_->name(); }
  [[nodiscard]] blob address() const override { return inner_->address(); }
  void connect(std::vector<blob> addresses, transport_events& events) override;
  [[nodiscard]] std::string route(int pe) const override { return inner_->route(pe); }

  [[nodiscard]] std::optional<exposed_memory> expose(void* address, std::size_t bytes, std::string& why_not) override;
  void withdraw(const exposed_memory& memory) noexcept override { inner_->withdraw(memory); }
  [[nodiscard]] std::uint64_t import_memory(int pe, std::span<const std::byte> key) override;
  void forget(std::uint64_t imported) noexcept override;

  void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
           transport_token token) override;
  void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
           transport_token token) override;
  void send(int pe, std::span<const std::byte> message, transport_token token) override;
  [[nodiscard]] std::size_t max_message() const noexcept override { return inner_->max_message(); }

  bool progress() override;
  void wait(std::chrono::milliseconds limit) override;
  void wake() noexcept override { inner_->wake(); }
  void disconnect(std::chrono::milliseconds limit) noexcept override;

 private:
  enum class kind { put, get, send, message, done };

  /// Something held back: a piece of an operation on its way out, or an event on its way in.
  struct held {
    kind what;
    int pe;
    std::uint64_t due;  ///< the progress() call that lets it go
    std::uint64_t imported = 0;
    std::uint64_t offset = 0;
    std::byte* local = nullptr;
    std::size_t bytes = 0;
    std::uint64_t operation = 0;
    blob message{};
  };
  /// An operation until it has been told of as done.
  struct operation {
    int pe;
    transport_token token;
    int pieces;
  };

  void message(int from, std::span<const std::byte> bytes) override;
  void done(transport_token token) override;
  void lost(int pe, const std::string& why) override;

  [[nodiscard]] int peer_credentials(std::uint64_t imported) const;
  /// Whether an operation to `pe` is to be carried out; counts it.
  [[nodiscard]] bool admit(int pe);
  [[nodiscard]] std::uint64_t begin(int pe, transport_token token, int pieces);
  void hold(held one);
  void let_go(const held& one);

  const std::unique_ptr<transport> inner_;
  const faulty_settings settings_;
  transport_events* events_ = nullptr;
  std::mt19937 random_;
  std::uint64_t calls_ = 0;                ///< of progress()
  std::uint64_t to_victim_ = 0;            ///< operations and messages admitted
  std::optional<std::uint64_t> fails_at_;  ///< the progress() call that loses the victim, once something was dropped
  std::vector<bool> lost_;                 ///< who the events were told of
  std::map<std::uint64_t, int> owners_;
  std::map<std::uint64_t, operation> operations_;
  std::uint64_t next_operation_ = 1;
  std::vector<held> held_;
};

}  // namespace pgas::detail
