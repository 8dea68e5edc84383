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
#include "host/transport/ucx/completion_queue.hpp"
#include "host/transport/ucx/endpoint.hpp"
#include "host/transport/ucx/worker.hpp"

namespace pgas::detail {

/// Puts are puts of UCX. Puts are reported as done after a flush of their endpoint: one flush for all puts between two
/// calls of progress(). Messages are eager active messages. PEs exchange disconnect messages before they close
/// connections, so that no PE closes a connection that its peer still uses.
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
  void wait(std::chrono::nanoseconds limit) override;
  void wake() noexcept override;
  void disconnect(std::chrono::milliseconds limit) noexcept override;

 private:
  /// A message that UCX has delivered and transport_events has not received yet.
  struct arrival {
    ucx_header header;
    void* kept;  ///< UCX's buffer, released later; null if the bytes were copied
    std::size_t bytes;
    std::array<std::byte, ucx_packed_bytes> small;  ///< the copy of a small message
    blob copy;                                      ///< the copy of a longer message

    [[nodiscard]] std::span<const std::byte> contents() const noexcept {
      const void* const first = kept != nullptr ? kept : bytes <= small.size() ? small.data() : copy.data();
      return {static_cast<const std::byte*>(first), bytes};
    }
  };
  struct imported_memory {
    ucx_endpoint* peer;
    ucx_memory_key key;
  };

  static ucs_status_t arrived(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* param);
  [[nodiscard]] imported_memory& imported(std::uint64_t number, std::uint64_t offset, std::size_t bytes);
  /// Flushes puts and calls UCX's progress function, which adds to completions_ and arrivals_.
  bool drive();
  void deliver_arrivals();
  void deliver_ended();
  void deliver_losses();
  void release(const arrival& message) noexcept;
  [[nodiscard]] bool disconnect_all();
  void close_all(std::chrono::milliseconds limit) noexcept;

  log::logger& log_;
  const int me_;
  ucx_completion_queue completions_;  ///< destroyed after the worker, because UCX stores pointers to it
  std::vector<std::unique_ptr<ucx_endpoint>> peers_;
  ucx_worker worker_;
  transport_events* events_ = nullptr;
  unique_fd wake_;
  bool warned_ = false;  ///< whether foreign messages have been logged
  std::vector<arrival> arrivals_;
  std::vector<arrival> spare_;  ///< always empty; its capacity is reused
  std::vector<bool> told_lost_;
  std::vector<ucx_endpoint*> to_close_;  ///< failed endpoints with requests in flight
  std::map<std::uint64_t, imported_memory> imported_;
  std::uint64_t next_import_ = 1;

  std::mutex exposed_mutex_;
  std::map<std::uint64_t, ucp_mem_h> exposed_;
  std::uint64_t next_exposed_ = 1;
};

}  // namespace pgas::detail
