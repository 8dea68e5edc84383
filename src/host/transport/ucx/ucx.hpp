/// @file
/// The transport over UCX.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/unique_fd.hpp"
#include "host/transport/ucx/key.hpp"
#include "host/transport/ucx/ledger.hpp"
#include "host/transport/ucx/peer.hpp"
#include "host/transport/ucx/worker.hpp"

namespace pgas::detail {

/// Puts are UCX's puts, and told of as done after a flush of their endpoint: one for all those that came between two
/// progress() calls. Messages are eager active messages. Leaving is an exchange of goodbyes, so that nobody closes a
/// connection that the other side still counts on.
class ucx_transport final : public transport {
 public:
  explicit ucx_transport(const ucx_settings& settings);
  ~ucx_transport() override;

  [[nodiscard]] std::string name() const override { return "ucx " + worker_.library().version; }
  [[nodiscard]] blob address() const override { return worker_.address(); }
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
  /// A message between its arrival, inside UCX, and its delivery, outside.
  struct arrival {
    ucx_header header;
    void* kept;  ///< UCX's buffer, to be released; none where the bytes had to be copied
    std::size_t bytes;
    std::array<std::byte, ucx_piece_bytes> small;  ///< a copy
    blob copy;                                     ///< of what is larger

    [[nodiscard]] std::span<const std::byte> contents() const noexcept {
      const void* const first = kept != nullptr ? kept : bytes <= small.size() ? small.data() : copy.data();
      return {static_cast<const std::byte*>(first), bytes};
    }
  };
  struct imported_memory {
    ucx_peer* peer;
    ucx_key key;
  };

  static ucs_status_t arrived(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* param);
  [[nodiscard]] imported_memory& imported(std::uint64_t number, std::uint64_t offset, std::size_t bytes);
  /// Lets UCX work and flushes puts; what has happened is then in the ledger and in arrivals_.
  bool drive();
  void deliver_arrivals();
  void deliver_ended();
  void deliver_losses();
  void release(const arrival& one) noexcept;
  [[nodiscard]] bool all_said_goodbye();
  void close_all(std::chrono::milliseconds limit) noexcept;

  log::logger& log_;
  const int me_;
  ucx_ledger ledger_;  ///< before the worker: UCX holds addresses into it
  std::vector<std::unique_ptr<ucx_peer>> peers_;
  ucx_worker worker_;
  transport_events* events_ = nullptr;
  unique_fd wake_;
  bool warned_ = false;  ///< of messages that are none
  std::vector<arrival> arrivals_;
  std::vector<arrival> room_;  ///< empty, for the next ones
  std::vector<bool> told_lost_;
  std::vector<ucx_peer*> to_close_;  ///< failed, with something under way
  std::map<std::uint64_t, imported_memory> imported_;
  std::uint64_t next_import_ = 1;

  std::mutex exposed_mutex_;
  std::map<std::uint64_t, ucp_mem_h> exposed_;
  std::uint64_t next_exposed_ = 1;
};

}  // namespace pgas::detail
