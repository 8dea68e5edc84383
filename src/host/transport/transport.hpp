/// @file
/// The contract between the proxy and what carries bytes to PEs beyond load and store. A transport knows nothing of
/// commands, signals or order: those are the proxy's. It moves bytes, says when they have arrived, and says when a PE
/// is gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// Names an operation or a message under way; chosen by the caller, given back once in transport_events::done().
using transport_token = std::uint64_t;

/// Told by transport::progress(), on the thread that calls it, and by nothing else. None of them may throw, or
/// call progress(), wait() or disconnect(); they may begin operations.
class transport_events {
 public:
  /// A message of PE `from`. The bytes are the transport's and live until this returns.
  virtual void message(int from, std::span<const std::byte> bytes) = 0;
  /// The operation has ended. A put: its bytes are in the target's memory, visible to the target's CPU threads that
  /// learn of it from this PE in any way. A get: the bytes are here. A message: its buffer may be reused; it is under
  /// way.
  virtual void done(transport_token token) = 0;
  /// Nothing more goes to or comes from PE `pe`: what was under way to it and has not been told of as done never will
  /// be. Once for each PE. The error names what failed, not whom: the caller knows more of that.
  virtual void lost(int pe, const std::string& why) = 0;

 protected:
  ~transport_events() = default;
};

/// Memory as its owner has exposed it, on its way to those who put to it and get from it.
struct exposed_memory {
  std::uint64_t id = 0;  ///< for withdraw()
  blob key;              ///< for the peers' transport::import_memory()
};

/// A way to reach other PEs. Puts, gets and messages complete in any order, also between the same two PEs, and may be
/// under way in any number. Nothing is lost or doubled short of lost(). Connections are made when they are first
/// needed.
///
/// *Callers* one thread at a time, but for expose(), withdraw() and wake(): any thread. *Errors* code::transport_failed
/// unless said otherwise; what concerns one PE is told by lost() instead.
class transport {
 public:
  virtual ~transport() = default;
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  /// For people: "ucx 1.16.0", "loopback".
  [[nodiscard]] virtual std::string name() const = 0;
  /// How others reach this PE; to be given to all of them.
  [[nodiscard]] virtual blob address() const = 0;
  /// The addresses of all PEs, by world number, and who is told of events. Once, before anything below; makes no
  /// connections.
  virtual void connect(std::vector<blob> addresses, transport_events& events) = 0;
  /// For people: what carries bytes to this PE ("tcp/eth0"), as far as it is known; empty before there is a connection.
  [[nodiscard]] virtual std::string route(int pe) const = 0;

  // ---- memory

  /// Makes [address, address + bytes) of this process reachable for the others' puts and gets, and usable as the local
  /// side of such. None, with the reason in `why_not`, where the transport can't reach that kind of memory; messages
  /// work all the same.
  [[nodiscard]] virtual std::optional<exposed_memory> expose(void* address, std::size_t bytes,
                                                             std::string& why_not) = 0;
  /// Takes it back. The others must have stopped using it.
  virtual void withdraw(const exposed_memory& memory) noexcept = 0;
  /// What `pe` exposed: a number for put() and get(), until forget(). *Errors* handle_invalid for a malformed key.
  [[nodiscard]] virtual std::uint64_t import_memory(int pe, std::span<const std::byte> key) = 0;
  /// No longer to be used. Nothing is under way there, unless the PE is lost.
  virtual void forget(std::uint64_t imported) noexcept = 0;

  // ---- work

  // To a PE that is lost they do nothing.

  /// Writes `bytes` bytes from `local` to `offset` bytes behind the start of what was imported.
  virtual void put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                   transport_token token) = 0;
  /// Reads them.
  virtual void get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                   transport_token token) = 0;
  /// Sends a message of at most max_message() bytes; the buffer stays as it is until done().
  virtual void send(int pe, std::span<const std::byte> message, transport_token token) = 0;
  [[nodiscard]] virtual std::size_t max_message() const noexcept = 0;

  /// Drives everything; whether there was anything to do.
  virtual bool progress() = 0;
  /// Returns when there may be something to do, after wake(), or after `limit`.
  virtual void wait(std::chrono::milliseconds limit) = 0;
  /// Ends a wait() that is under way, or the next one.
  virtual void wake() noexcept = 0;

  /// Before the destructor, when the operations of all PEs are done: ends connections in good order. All PEs do this at
  /// about the same time: it may wait, for at most `limit`, for those that are connected and not here yet, so that none
  /// of them is told of a loss, and as long again for what is under way to others. What is under way all the same is
  /// abandoned, and whoever wants something of a PE that has left is told that it is lost.
  virtual void disconnect(std::chrono::milliseconds limit) noexcept = 0;
};

}  // namespace pgas::detail
