/// @file
/// The contract between the proxy and a network. A transport moves bytes to proxied PEs, says when they have arrived,
/// and says when a PE is lost. Commands, signals and their order are the proxy's: a transport knows nothing of them.
#pragma once

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

/// Names an operation or a message in flight; chosen by the caller, returned once in transport_events::done().
using transport_token = std::uint64_t;

/// Called by transport::progress() only, on the thread that calls it. None of these may throw, or call progress(),
/// wait() or disconnect(); they may start operations.
class transport_events {
 public:
  /// A message of PE `from`. The bytes are the transport's and live until this returns.
  virtual void message(int from, std::span<const std::byte> bytes) = 0;
  /// The operation has ended. A put: its bytes are in the target's memory, visible to the target's CPU threads that
  /// learn of it from this PE in any way. A get: the bytes are here. A message: its buffer may be reused; the message
  /// is in flight.
  virtual void done(transport_token token) = 0;
  /// PE `pe` is lost: nothing more goes to it or comes from it, and operations to it that are not done never will be.
  /// Called once for each PE. `why` names what failed, not the PE, which the caller knows.
  virtual void lost(int pe, const std::string& why) = 0;

 protected:
  ~transport_events() = default;
};

/// Exposed memory, as its owner describes it to the PEs that put to it and get from it.
struct exposed_memory {
  std::uint64_t id = 0;  ///< for withdraw()
  blob key;              ///< for the peers' transport::import_memory()
};

/// A network to other PEs. Puts, gets and messages complete in any order, also between the same two PEs, and any number
/// may be in flight. Each arrives exactly once unless the PE is lost. Connections are made at the first operation.
///
/// *Callers* one thread at a time, but for expose(), withdraw() and wake(): any thread. *Errors* code::transport_failed
/// unless said otherwise; failures of one PE are reported by transport_events::lost() instead.
class transport {
 public:
  virtual ~transport() = default;
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  /// For the log: "ucx 1.16.0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// The address by which other PEs connect to this one; to be given to all of them.
  [[nodiscard]] virtual blob address() const = 0;
  /// Sets the addresses of all PEs, by world number, and the receiver of events. Once, before every function below;
  /// makes no connections.
  virtual void connect(std::vector<blob> addresses, transport_events& events) = 0;
  /// For the log: the devices that carry bytes to this PE ("tcp/eth0"), as far as known; empty before the connection.
  [[nodiscard]] virtual std::string route(int pe) const = 0;

  // ---- memory

  /// Makes [address, address + bytes) of this process accessible to the puts and gets of other PEs, and usable as the
  /// local side of this PE's. None, with the reason in `why_not`, where the transport can't access that kind of memory;
  /// messages work all the same.
  [[nodiscard]] virtual std::optional<exposed_memory> expose(void* address, std::size_t bytes,
                                                             std::string& why_not) = 0;
  /// Ends expose(). The other PEs must have stopped using the memory.
  virtual void withdraw(const exposed_memory& memory) noexcept = 0;
  /// Opens memory that `pe` exposed: a number for put() and get(), valid until forget(). *Errors* handle_invalid for a
  /// malformed key.
  [[nodiscard]] virtual std::uint64_t import_memory(int pe, std::span<const std::byte> key) = 0;
  /// Ends import_memory(). Nothing is in flight there, unless the PE is lost.
  virtual void forget(std::uint64_t imported) noexcept = 0;

  // ---- operations; to a lost PE they do nothing

  /// Writes `bytes` bytes from `local` to `offset` bytes behind the start of the imported memory.
  virtual void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                   transport_token token) = 0;
  /// Reads at most the payload of one command.
  virtual void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                   transport_token token) = 0;
  /// Sends a message of at most max_message() bytes; the buffer stays unchanged until done().
  virtual void send(int pe, std::span<const std::byte> message, transport_token token) = 0;
  [[nodiscard]] virtual std::size_t max_message() const noexcept = 0;

  /// Drives all operations and calls the events; returns whether there was anything to do.
  virtual bool progress() = 0;
  /// Returns when progress() may have something to do, after wake(), or after `limit`.
  virtual void wait(std::chrono::nanoseconds limit) = 0;
  /// Ends the current wait(), or else the next one.
  virtual void wake() noexcept = 0;

  /// Closes all connections. Before the destructor, when the operations of all PEs are done. All PEs call this at about
  /// the same time: it waits at most `limit` for connected PEs that have not called it yet, so that none of them sees a
  /// loss, and as long again for its own operations. It then abandons operations in flight; a PE that still needs
  /// something of this one is told that this one is lost.
  virtual void disconnect(std::chrono::milliseconds limit) noexcept = 0;
};

}  // namespace pgas::detail
