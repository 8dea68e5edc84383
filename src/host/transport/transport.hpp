/// @file
/// The contract between the proxy and a network. A transport moves bytes to proxied PEs, reports when the bytes have
/// arrived, and reports lost PEs. The proxy implements commands, signals and their order above the transport.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// Names an operation or a message in flight. The caller chooses the token, and transport_events::done() returns it
/// once.
using transport_token = std::uint64_t;

/// Called by transport::progress() only, on the thread that calls progress(). The functions must not throw, and must
/// not call progress(), wait() or disconnect(). They may start operations.
class transport_events {
 public:
  /// Called when a message of PE `from` has arrived. The bytes belong to the transport and are valid until this
  /// function returns.
  virtual void message(int from, std::span<const std::byte> bytes) = 0;
  /// Called when the operation has ended. After a put, the bytes are in the target's memory, and a CPU thread of the
  /// target sees the bytes after this PE has informed the thread. After a get, the bytes are in local memory. After a
  /// message, its buffer may be reused, and the message is in flight.
  virtual void done(transport_token token) = 0;
  /// Called once for a PE that is lost. No more data goes to this PE or comes from it, and unfinished operations to
  /// this PE never end. `why` describes the failure without the number of the PE.
  virtual void lost(int pe, const std::string& why) = 0;

 protected:
  ~transport_events() = default;
};

/// The owner's description of exposed memory, for PEs that access the memory by puts and gets.
struct exposed_memory {
  std::uint64_t id = 0;  ///< the number for withdraw()
  blob key;              ///< the key for transport::import_memory() of the peers
};

/// A network to other PEs. Puts, gets and messages complete in any order, also between the same two PEs. Any number of
/// them may be in flight. Each operation takes effect exactly once, unless the PE is lost. A connection is made at the
/// first operation.
///
/// *Callers* one thread at a time; any thread for expose(), withdraw() and wake(). *Errors* code::transport_failed
/// unless stated otherwise. Failures of one PE are reported by transport_events::lost() instead.
class transport {
 public:
  virtual ~transport() = default;
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  /// The name and version for the log: "ucx 1.16.0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// The address by which other PEs connect to this PE.
  [[nodiscard]] virtual blob address() const = 0;
  /// Sets the addresses of all PEs, indexed by the PE's number in the world, and the receiver of events. Called once,
  /// before every function below. Makes no connections.
  virtual void connect(std::vector<blob> addresses, transport_events& events) = 0;
  /// The devices that carry bytes to this PE ("tcp/eth0"), as far as known, for the log. Empty before the connection is
  /// made.
  [[nodiscard]] virtual std::string route(int pe) const = 0;

  // ---- memory

  /// Makes [address, address + bytes) of this process accessible to the puts and gets of other PEs. This PE can also
  /// use the memory as the local side of its own puts and gets. If the transport cannot access memory of that kind, the
  /// result is empty and `why_not` has the reason. Messages do not need exposed memory.
  [[nodiscard]] virtual std::optional<exposed_memory> expose(void* address, std::size_t bytes,
                                                             std::string& why_not) = 0;
  /// Reverses expose(). The other PEs must have stopped using the memory.
  virtual void withdraw(const exposed_memory& memory) noexcept = 0;
  /// Opens memory that `pe` exposed. Returns a number for put() and get(), valid until forget(). *Errors*
  /// handle_invalid for a malformed key.
  [[nodiscard]] virtual std::uint64_t import_memory(int pe, std::span<const std::byte> key) = 0;
  /// Reverses import_memory(). No operation on the memory may be in flight, unless the PE is lost.
  virtual void forget(std::uint64_t imported) noexcept = 0;

  // ---- operations; without effect if the PE is lost

  /// Writes `bytes` bytes from `local` to the imported memory, at `offset` bytes from its start.
  virtual void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                   transport_token token) = 0;
  /// Reads `bytes` bytes of the imported memory, at `offset` bytes from its start, into `local`. `bytes` is at most the
  /// payload of one command.
  virtual void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                   transport_token token) = 0;
  /// Sends a message of at most max_message() bytes. The buffer must not change until done().
  virtual void send(int pe, std::span<const std::byte> message, transport_token token) = 0;
  [[nodiscard]] virtual std::size_t max_message() const noexcept = 0;

  /// Makes progress on all operations and calls the functions of transport_events. Returns whether there was work.
  virtual bool progress() = 0;
  /// Waits until there can be work for progress(), until wake() is called, or for at most `limit`.
  virtual void wait(std::chrono::nanoseconds limit) = 0;
  /// Ends the current wait(). If no wait() is running, ends the next one.
  virtual void wake() noexcept = 0;

  /// Closes all connections. Called before the destructor, when the operations of all PEs are done. All PEs call this
  /// function at about the same time. The function waits at most `limit` for connected PEs that have not called it yet,
  /// so that no PE sees a loss. It then waits at most `limit` for its own operations, and abandons operations that are
  /// still in flight. Other PEs that still need this PE then report this PE as lost.
  virtual void disconnect(std::chrono::milliseconds limit) noexcept = 0;
};

// ---- checks of arguments, which all transports use

/// *Errors* transport_failed unless `pe` is one of `n_pes` PEs and `bytes` is at most `most`.
inline void check_message(int pe, int n_pes, std::size_t bytes, std::size_t most) {
  if (pe < 0 || pe >= n_pes)
    throw error{code::transport_failed, fmt::format("a message to PE {} in a job of {} PEs", pe, n_pes), pe};
  if (bytes > most)
    throw error{code::transport_failed,
                fmt::format("a message of {} bytes to PE {}: the limit is {} bytes", bytes, pe, most), pe};
}

/// *Errors* transport_failed unless [offset, offset + bytes) is inside the `exposed` bytes of `pe`.
inline void check_range(int pe, std::uint64_t offset, std::uint64_t bytes, std::uint64_t exposed) {
  if (offset > exposed || bytes > exposed - offset)
    throw error{
        code::transport_failed,
        fmt::format("{} bytes at offset {} are not inside the {} bytes that PE {} exposes", bytes, offset, exposed, pe),
        pe};
}

}  // namespace pgas::detail
