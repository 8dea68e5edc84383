// A long run of message_passing: many channels between all pairs of PEs, messages of 1 byte to 64 KiB at any alignment,
// each followed by a signal. The receiver checks every byte while other blocks keep the links busy.
#include "stress.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

constexpr std::uint32_t largest = 65'536;
constexpr std::uint32_t half = largest + 64;  // a buffer, with room for any alignment

struct channels {
  sym<unsigned char> outbox;  // two halves for each channel, used alternately
  sym<unsigned char> inbox;
  sym<signal_t> arrived;   // one signal for each channel, on the receiver
  sym<signal_t> consumed;  // one signal for each channel, on the sender
  background noise;
  findings found;
  std::uint32_t n_channels;
  std::uint32_t n_rounds;

  /// The parameters of message `round` of channel `id`.
  struct message {
    std::uint32_t seed;
    std::uint32_t bytes;
    std::uint32_t from;  // the misalignment of the source
    std::uint32_t to;    // the misalignment of the destination
    std::uint32_t way;

    PGAS_FN message(std::uint32_t id, std::uint32_t round) : seed(mix(id, round)) {
      const std::uint32_t limit = 1u << mix(seed, 1) % 17;  // short and long messages are equally frequent
      bytes = 1 + mix(seed, 2) % limit;
      from = mix(seed, 3) % 16;
      to = mix(seed, 4) % 16;
      way = mix(seed, 5) % 4;
    }
    [[nodiscard]] PGAS_FN unsigned char at(std::uint32_t i) const {
      return static_cast<unsigned char>(mix(seed, i / 4) >> i % 4 * 8);
    }
  };

  [[nodiscard]] PGAS_FN static std::uint32_t name(std::int32_t sender, std::uint32_t channel) {
    return static_cast<std::uint32_t>(sender) * 1000 + channel;
  }
  [[nodiscard]] PGAS_FN static std::size_t buffer(std::uint32_t channel, std::uint32_t round) {
    return (std::size_t{channel} * 2 + round % 2) * half;
  }

  template <class Block>
  PGAS_FN void send(const Block& block, const context& ctx, std::uint32_t channel) const {
    const auto n = static_cast<std::uint32_t>(ctx.n_pes());
    const auto to_pe = static_cast<std::int32_t>((static_cast<std::uint32_t>(ctx.my_pe()) + 1 + channel % (n - 1)) % n);
    signal_t* const sig = arrived.at(ctx) + channel;
    for (std::uint32_t round = 1; round <= n_rounds; ++round) {
      const message m(name(ctx.my_pe(), channel), round);
      unsigned char* const src = outbox.at(ctx) + buffer(channel, round) + m.from;
      unsigned char* const dst = inbox.at(ctx) + buffer(channel, round) + m.to;
      if (round > 2) wait_until(ctx, block, consumed.at(ctx) + channel, cmp::ge, round - 2);
      for (auto i = static_cast<std::uint32_t>(block.thread_rank()); i < m.bytes;
           i += static_cast<std::uint32_t>(block.size())) {
        src[i] = m.at(i);
      }
      block.sync();
      if (m.way == 0) {
        put_signal(ctx, block, dst, src, m.bytes, sig, round, signal_op::set, to_pe);
      } else if (m.way == 1) {
        put_nbi(ctx, block, dst, src, m.bytes, to_pe);
        fence(ctx, block);
        if (block.thread_rank() == 0) signal_add(ctx, sig, 1, to_pe);
      } else if (m.way == 2 || m.bytes > 256) {
        const warp w = this_warp(block);
        if (w.meta_group_rank() == 0) put_signal(ctx, w, dst, src, m.bytes, sig, 1, signal_op::add, to_pe);
      } else if (block.thread_rank() == 0) {
        put_signal(ctx, dst, src, m.bytes, sig, round, signal_op::set, to_pe);
      }
      block.sync();
    }
  }

  template <class Block>
  PGAS_FN void receive(const Block& block, const context& ctx, std::uint32_t channel) const {
    const auto n = static_cast<std::uint32_t>(ctx.n_pes());
    const auto from_pe =
        static_cast<std::int32_t>((static_cast<std::uint32_t>(ctx.my_pe()) + n - 1 - channel % (n - 1)) % n);
    for (std::uint32_t round = 1; round <= n_rounds; ++round) {
      const message m(name(from_pe, channel), round);
      const unsigned char* const data = inbox.at(ctx) + buffer(channel, round) + m.to;
      wait_until(ctx, block, arrived.at(ctx) + channel, cmp::ge, round);
      for (auto i = static_cast<std::uint32_t>(block.thread_rank()); i < m.bytes;
           i += static_cast<std::uint32_t>(block.size())) {
        found.equal(ctx, std::uint64_t{round} << 32 | m.way << 24 | i, m.at(i), data[i]);
      }
      block.sync();
      if (block.thread_rank() == 0) {
        fence(ctx);  // orders the reads above before the sender's next writes
        signal_set(ctx, consumed.at(ctx) + channel, round, from_pe);
      }
    }
  }

  [[nodiscard]] static unsigned working_blocks(const stress_shape& shape) { return 2 * shape.channels; }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    noise.beside(block, ctx, 2 * n_channels, [&](std::uint32_t which) {
      if (which < n_channels) {
        send(block, ctx, which);
      } else {
        receive(block, ctx, which - n_channels);
      }
    });
  }
};

void message_passing(int n) {
  const unsigned n_channels = stress_shape().channels;
  pe_set pes(n, {.heap_bytes = std::size_t{32} << 20});
  const channels body{pes.allocate<unsigned char>(n_channels * 2 * std::size_t{half}),
                      pes.allocate<unsigned char>(n_channels * 2 * std::size_t{half}),
                      pes.allocate<signal_t>(n_channels),
                      pes.allocate<signal_t>(n_channels),
                      background(pes),
                      make_findings(pes),
                      n_channels,
                      stress_rounds(n)};
  run_stress("message_passing", pes, body, body.found, body.n_rounds);
}

TEST(stress, message_passing_between_2) { message_passing(2); }
TEST(stress, message_passing_between_4) { message_passing(4); }

}  // namespace
