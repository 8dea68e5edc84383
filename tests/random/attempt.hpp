/// @file
/// One run of one program on the harness's PEs, compared with the model after every segment.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "device/harness.hpp"
#include "generator.hpp"
#include "interpreter.hpp"

namespace pgas_random {

/// The seed and the numbers that select a program, and the program's length.
struct program_choice {
  std::uint64_t seed = 0;
  int pes = 2;
  int blocks = 1;
  std::uint32_t operations = 10'000;
};

#if defined(PGAS_TSAN)
inline constexpr fences fences_here = fences::until_data;
#else
inline constexpr fences fences_here = fences::lasting;
#endif

struct mismatch {
  std::uint32_t first;  ///< the first operation of the segment; the error was found after the segment
  std::uint32_t last;
  std::string text;
};

class attempt {
 public:
  static constexpr std::uint32_t segment = 1000;

  attempt(const program_choice& choice, std::chrono::milliseconds wait_timeout)
      : choice_(choice),
        program_(choice.seed, choice.pes, pgas_test::asked_domain(), choice.blocks, fences_here),
        pes_(choice.pes, {.heap_bytes = std::size_t{4} << 20, .timeout = wait_timeout}) {
    guarded_ = pes_.allocate<unsigned char>(places::arena_bytes + 2 * places::guard_bytes);
    body_.arena = guarded_ + places::guard_bytes;
    body_.signals = pes_.allocate<signal_t>(places::signal_words);
    body_.capacity = 2 * segment;  // some operations take several instructions
    body_.program = pes_.allocate<instruction>(std::size_t{body_.capacity} * static_cast<unsigned>(choice.blocks));
    body_.word_sets = pes_.allocate<word_set>(segment);
    body_.blocks = pes_.allocate<copy_block>(std::size_t{segment} * places::listed_blocks);
    body_.lengths = pes_.allocate<std::uint32_t>(static_cast<unsigned>(choice.blocks));
    body_.teams = pes_.allocate<team_view>(n_teams);
    set_teams();
    for (int pe = 0; pe < choice.pes; ++pe) {
      const std::vector<unsigned char> bytes = expected_bytes(pe);
      pes_.write(pe, guarded_, bytes.data(), bytes.size());
    }
  }

  /// Runs one segment after another while `go_on()` returns true. Returns the error, if there was one.
  template <class F>
  [[nodiscard]] std::optional<mismatch> run(const F& go_on) {
    const auto grids = pgas_test::grids();
    while (program_.operations() < choice_.operations && go_on()) {
      const std::uint32_t first = program_.operations() + 1;
      const std::uint32_t threads = grids[program_.any(static_cast<std::uint32_t>(grids.size()))].threads;
      program_.next_segment(std::min(segment, choice_.operations - program_.operations()));
      load();
      const std::vector<bool> gave_up = pes_.run_out({static_cast<unsigned>(choice_.blocks), threads}, body_);
      std::string text = endings(gave_up);
      if (text.empty()) text = differences();
      if (!text.empty())
        return mismatch{first, program_.operations(), text + "  blocks of " + std::to_string(threads) + " threads\n"};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint32_t operations() const { return program_.operations(); }
  [[nodiscard]] std::string describe(std::uint32_t number) const { return program_.describe(number); }

 private:
  void set_teams() {
    for (std::uint32_t t = 0; t < n_teams; ++t) {
      const team_plan& plan = program_.teams()[t];
      const auto n = static_cast<std::int32_t>(plan.members.size());
      const std::uint64_t bytes = detail::team_state_layout::bytes(n, detail::default_channels, plan.listed);
      const sym<unsigned char> state = pes_.allocate<unsigned char>(bytes, detail::team_state_layout::line);
      const sym<std::int32_t> list{state.offset + detail::team_state_layout::list(n, detail::default_channels)};
      pgas_test::write_plans(pes_, plan.members, state.offset, detail::default_channels);
      for (int pe = 0; pe < choice_.pes; ++pe) {
        team_view view;
        view.start_ = plan.start;
        view.stride_ = plan.stride;
        view.n_pes_ = n;
        for (std::int32_t i = 0; i < n; ++i) {
          if (plan.members[static_cast<std::size_t>(i)] == pe) view.my_pe_ = i;
        }
        view.n_channels_ = detail::default_channels;
        view.state_offset_ = state.offset;
        if (plan.listed) {
          view.members_ = reinterpret_cast<const std::int32_t*>(pes_.context_of(pe).my_slot_ + list.offset);
          pes_.write(pe, list, plan.members.data(), plan.members.size());
        }
        pes_.write(pe, body_.teams + t, &view, 1);
      }
    }
  }

  /// Sends the segment's instructions to the PEs.
  void load() {
    for (int pe = 0; pe < choice_.pes; ++pe) {
      for (int block = 0; block < choice_.blocks; ++block) {
        const auto& list = program_.lists()[static_cast<std::size_t>(pe * choice_.blocks + block)];
        const auto length = static_cast<std::uint32_t>(list.size());
        const auto b = static_cast<std::size_t>(block);
        if (length > body_.capacity) throw std::length_error("a block's part of the program is too long");
        pes_.write(pe, body_.program + b * body_.capacity, list.data(), list.size());
        pes_.write(pe, body_.lengths + b, &length, 1);
      }
      const std::vector<word_set>& sets = program_.word_sets(pe);
      if (!sets.empty()) pes_.write(pe, body_.word_sets, sets.data(), sets.size());
    }
  }

  [[nodiscard]] std::vector<unsigned char> expected_bytes(int pe) const {
    std::vector<unsigned char> bytes(places::arena_bytes + 2 * places::guard_bytes, places::guard_byte);
    const auto arena = program_.expected().arena(pe);
    std::copy(arena.begin(), arena.end(), bytes.begin() + places::guard_bytes);
    return bytes;
  }

  /// The records of PEs whose waits failed.
  [[nodiscard]] std::string endings(const std::vector<bool>& gave_up) {
    std::string text;
    for (int pe = 0; pe < choice_.pes; ++pe) {
      if (!gave_up[static_cast<std::size_t>(pe)]) continue;
      const detail::failure_record& r = pes_.control(pe).record;
      text += "  PE " + std::to_string(pe) + " gave up: why " + std::to_string(static_cast<int>(r.why)) +
              ", operation " + std::to_string(static_cast<int>(r.what)) + ", PE " + std::to_string(r.pe) +
              ", heap offset " + std::to_string(r.heap_offset) + ", expected " + std::to_string(r.expected) + ", saw " +
              std::to_string(r.seen) + ", block " + std::to_string(r.block) + ", thread " + std::to_string(r.thread) +
              "\n";
    }
    return text;
  }

  [[nodiscard]] std::string differences() {
    std::string text;
    for (int pe = 0; pe < choice_.pes; ++pe) {
      const std::vector<unsigned char> expected = expected_bytes(pe);
      std::vector<unsigned char> seen(expected.size());
      pes_.read(pe, guarded_, seen.data(), seen.size());
      std::uint32_t wrong = 0;
      for (std::uint32_t i = 0; i < seen.size(); ++i) {
        if (seen[i] == expected[i] || ++wrong > 1) continue;
        const std::uint32_t place = i - places::guard_bytes;
        text += "  PE " + std::to_string(pe) + ", byte " + std::to_string(static_cast<std::int32_t>(place)) +
                " of the arena holds " + std::to_string(seen[i]) + " instead of " + std::to_string(expected[i]);
        const bool inside = i >= places::guard_bytes && place < places::arena_bytes;
        text += inside ? "; last written by operation #" + std::to_string(program_.expected().writer(pe, place)) +
                             "\n" + program_.describe(program_.expected().writer(pe, place))
                       : "; that is outside of what the program writes\n";
      }
      if (wrong > 1) text += "  and " + std::to_string(wrong - 1) + " more bytes of this PE\n";
      std::vector<signal_t> signals(places::signal_words);
      pes_.read(pe, body_.signals, signals.data(), signals.size());
      for (std::uint32_t w = 0; w < places::signal_words; ++w) {
        if (signals[w] == program_.expected().signal(pe, w)) continue;
        text += "  PE " + std::to_string(pe) + ", signal word " + std::to_string(w) + " holds " +
                std::to_string(signals[w]) + " instead of " + std::to_string(program_.expected().signal(pe, w)) + "\n";
        break;
      }
    }
    return text;
  }

  program_choice choice_;
  generator program_;
  pgas_test::pe_set pes_;
  sym<unsigned char> guarded_{};
  interpreter body_{};
};

}  // namespace pgas_random
