/// @file
/// The consumer's side of a ring: the memory, the next command, and the words that producers poll.
/// pgas/detail/proxy_ring.hpp describes the protocol between producers and the proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pgas/detail/proxy_ring.hpp"

namespace pgas::detail {

/// A ring as the proxy uses it. *Memory* the ring owns no memory. *Callers* the proxy thread; any thread for the
/// constructor and view().
class ring {
 public:
  /// Zeroed memory for 2^log2_commands commands and 2^log2_answers answer cells.
  struct memory {
    command* commands = nullptr;  ///< this and the next two members are addresses of the host
    answer* answers = nullptr;
    ring_progress* progress = nullptr;  ///< aligned to 128 bytes, like the commands
    ring_view producers;                ///< the addresses that producers use, the heads, and the sizes
    bool producers_wake = false;        ///< set if producers are threads of the host, which wake the sleeping proxy
  };

  /// The size of commands, answers and progress together. The memory must be zeroed and aligned to 128 bytes.
  [[nodiscard]] static std::size_t shared_bytes(std::uint32_t log2_commands, std::uint32_t log2_answers);
  /// Divides shared_bytes() at `host` into the parts of a ring. Producers use the address `device` for the same memory.
  /// `heads` has ring_view::heads_bytes() in memory of the producers.
  [[nodiscard]] static memory lay_out(void* host, void* device, void* heads, std::uint32_t log2_commands,
                                      std::uint32_t log2_answers);

  explicit ring(const memory& where);
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  [[nodiscard]] const ring_view& view() const noexcept { return memory_.producers; }
  [[nodiscard]] bool producers_wake() const noexcept { return memory_.producers_wake; }

  /// The next command; null if producers have added no further command. Earlier writes of the command's producer are
  /// visible. The proxy may use the slot until publish_taken().
  [[nodiscard]] const command* next() const noexcept;
  /// Advances to the next command.
  void take() noexcept { ++taken_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Frees the slots of all taken commands for producers.
  void publish_taken() noexcept;
  /// Tells producers that the first `completed` commands are complete.
  void publish_completed(std::uint64_t completed) noexcept;
  /// Fills an answer cell. A producer that acquires the cell sees the proxy's earlier writes. False if the number of
  /// the cell is too large.
  [[nodiscard]] bool give_answer(std::uint32_t cell, std::uint64_t low, std::uint64_t high) noexcept;

 private:
  const memory memory_;
  std::uint64_t taken_ = 0;
  std::uint64_t published_ = 0;
};

/// A ring with all of its memory on the host, including the heads. For threads of the host and kernels on the CPU.
class host_ring {
 public:
  /// @param producers_wake as in ring::memory
  host_ring(std::uint32_t log2_commands, std::uint32_t log2_answers, bool producers_wake = false);

  /// The ring for proxy_thread::add_ring().
  [[nodiscard]] ring& consumer() noexcept { return ring_; }
  [[nodiscard]] const ring_view& producers() const noexcept { return ring_.view(); }

 private:
  struct free_aligned {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, free_aligned> memory_;
  ring ring_;
};

}  // namespace pgas::detail
