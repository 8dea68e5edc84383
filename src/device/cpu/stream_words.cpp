#include "device/stream_words.hpp"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "device/cpu/host_stream.hpp"
#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/detail/poll_fairness.hpp"

namespace pgas::detail {

namespace {

/// The numbers of polls after which a wait begins to yield, and later to sleep. A wait for a running process usually
/// ends before the first yield.
constexpr int quick_polls = 500;
constexpr int short_polls = 20000;
constexpr std::chrono::microseconds sleep{50};
constexpr std::chrono::milliseconds between_checks{1};

/// If a stream is null, the calling thread itself writes or waits.
class cpu_stream_words final : public stream_words {
 public:
  [[nodiscard]] std::uint64_t* address(std::uint64_t* word) const noexcept override { return word; }

  void write(void* stream, std::uint64_t* word, std::uint64_t value, std::shared_ptr<const void> keep) override {
    if (stream == nullptr) return store_release(word, value);
    static_cast<host_stream*>(stream)->run([word, value, kept = std::move(keep)] { store_release(word, value); },
                                           host_stream::place::here_if_idle);
  }

  void wait(void* stream, std::uint64_t* word, std::uint64_t value, std::function<void()> check) override {
    if (stream == nullptr) return await_word(word, value, check);
    static_cast<host_stream*>(stream)->run(
        [word, value, checked = std::move(check)] { await_word(word, value, checked); }, host_stream::place::worker);
  }

  [[nodiscard]] bool wait_on_device() const noexcept override { return false; }
};

}  // namespace

void await_word(const std::uint64_t* word, std::uint64_t value, const std::function<void()>& check) {
  const auto reached = [&] {
    // The comparison is signed, as on GPUs, so that the same value ends the waits of streams and of the host.
    if (static_cast<std::int64_t>(load_relaxed(word) - value) < 0) return false;
    fence_acquire();
    return true;
  };
  auto next_check = std::chrono::steady_clock::now();
  for (int polls = 0;; ++polls) {
    if (reached()) return check();
    if (polls < quick_polls) continue;
    if (polls % 64 == 0 || polls >= short_polls) {
      if (const auto now = std::chrono::steady_clock::now(); now >= next_check) {
        check();
        next_check = now + between_checks;
      }
    }
    if (polls < short_polls) {
      yield_now_and_then();
    } else {
      polls = short_polls;
      std::this_thread::sleep_for(sleep);
    }
  }
}

std::unique_ptr<stream_words> make_cpu_stream_words() { return std::make_unique<cpu_stream_words>(); }

}  // namespace pgas::detail
