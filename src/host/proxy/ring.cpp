#include "host/proxy/ring.hpp"

#include <algorithm>
#include <atomic>
#include <new>

namespace pgas::detail {

namespace {

constexpr std::size_t line = 128;

struct ring_layout {
  std::size_t answers;
  std::size_t progress;
  std::size_t bytes;

  ring_layout(std::uint32_t log2_commands, std::uint32_t log2_answers)
      : answers(sizeof(command) << log2_commands),
        progress((answers + (sizeof(answer) << log2_answers) + line - 1) / line * line),
        bytes(progress + sizeof(ring_progress)) {}
};

[[nodiscard]] std::uint64_t load_acquire(const std::uint64_t& word) noexcept {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}
void store_release(std::uint64_t& word, std::uint64_t value) noexcept {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

std::size_t ring::shared_bytes(std::uint32_t log2_commands, std::uint32_t log2_answers) {
  return ring_layout(log2_commands, log2_answers).bytes;
}

ring::memory ring::lay_out(void* host, void* device, void* heads, std::uint32_t log2_commands,
                           std::uint32_t log2_answers) {
  const ring_layout offsets(log2_commands, log2_answers);
  auto* const here = static_cast<std::byte*>(host);
  auto* const remote = static_cast<std::byte*>(device);
  memory where;
  where.commands = reinterpret_cast<command*>(here);
  where.answers = reinterpret_cast<answer*>(here + offsets.answers);
  where.progress = reinterpret_cast<ring_progress*>(here + offsets.progress);
  where.producers.commands = reinterpret_cast<command*>(remote);
  where.producers.answers = reinterpret_cast<answer*>(remote + offsets.answers);
  where.producers.progress = reinterpret_cast<const ring_progress*>(remote + offsets.progress);
  where.producers.heads = static_cast<ring_heads*>(heads);
  where.producers.log2_commands = log2_commands;
  where.producers.log2_answers = log2_answers;
  return where;
}

ring::ring(const memory& where) : memory_(where) {}

const command* ring::next() const noexcept {
  const std::uint32_t log2 = memory_.producers.log2_commands;
  const command& next = memory_.commands[taken_ & ((std::uint64_t{1} << log2) - 1)];
  return load_acquire(next.lap) == (taken_ >> log2) + 1 ? &next : nullptr;
}

void ring::publish_taken() noexcept {
  if (published_ == taken_) return;
  published_ = taken_;
  store_release(memory_.progress->taken, taken_);
}

void ring::publish_completed(std::uint64_t completed) noexcept {
  store_release(memory_.progress->completed, completed);
}

bool ring::give_answer(std::uint32_t cell, std::uint64_t low, std::uint64_t high) noexcept {
  if (cell >> memory_.producers.log2_answers != 0) return false;
  answer& to = memory_.answers[cell];
  to.value[0] = low;
  to.value[1] = high;
  store_release(to.lap, to.lap + 1);  // no other thread writes the word
  return true;
}

void host_ring::free_aligned::operator()(std::byte* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{line});
}

host_ring::host_ring(std::uint32_t log2_commands, std::uint32_t log2_answers, bool producers_wake)
    : memory_([&] {
        const std::size_t bytes =
            ring::shared_bytes(log2_commands, log2_answers) + ring_view::heads_bytes(log2_answers);
        auto* const memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{line}));
        std::fill_n(memory, bytes, std::byte{0});
        return memory;
      }()),
      ring_([&] {
        ring::memory where =
            ring::lay_out(memory_.get(), memory_.get(), memory_.get() + ring::shared_bytes(log2_commands, log2_answers),
                          log2_commands, log2_answers);
        where.producers_wake = producers_wake;
        return where;
      }()) {}

}  // namespace pgas::detail
