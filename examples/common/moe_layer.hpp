/// @file
/// A layer of a mixture of experts without PEs: tokens, the router's choice, the function of an expert, and the layer's
/// result computed by one thread, to check the program that distributes it over PEs (24_moe).
///
/// The numbers are chosen so that every product in a sum is exact: weights have 7 bits, experts' results 8, a float 24.
/// The result is therefore the same bit for bit on CPU and GPU, whether or not a compiler contracts products and sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "number_formats.hpp"

namespace examples {

using pgas::bfloat16;

/// The shape of the layer: a token is `hidden` numbers, and is sent to `topk` of `experts` experts.
struct moe_shape {
  int hidden;
  int experts;
  int topk;
  int tokens;  ///< the tokens of each PE
  bool fp8;    ///< tokens travel as e4m3 with scales, otherwise as bfloat16; results always as bfloat16

  [[nodiscard]] PGAS_HD int slots() const { return tokens * topk; }  ///< one for each choice of each token
  [[nodiscard]] PGAS_HD std::size_t token_pieces() const { return fp8 ? scaled_row::pieces(hidden) : result_pieces(); }
  [[nodiscard]] PGAS_HD std::size_t result_pieces() const {
    return static_cast<std::size_t>(hidden / per_piece<bfloat16>);
  }
};

PGAS_HD std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

/// Piece `i` of token `token` of PE `pe` in input set `set`.
PGAS_HD piece token_piece(int set, int pe, int token, int i) {
  const auto which = static_cast<std::uint32_t>((set * 1024 + pe) * 65536 + token);
  float values[per_piece<bfloat16>];
  for (int j = 0; j < per_piece<bfloat16>; ++j) {
    const std::uint32_t dice = scrambled(scrambled(which) + static_cast<std::uint32_t>(i * per_piece<bfloat16> + j));
    values[j] = (static_cast<float>(dice & 0xffU) - 127.5F) * (dice & 0x300U ? 0.015625F : 1.0F);
  }
  return rounded_to<bfloat16>(values);
}

/// The function that expert `expert` applies to a number. A real expert multiplies matrices.
PGAS_HD float expert_output(float value, int expert) { return value * (0.5F + static_cast<float>(expert % 97) / 128); }

/// Piece `i` of an expert's result for a row, which has the format in which tokens are sent.
PGAS_HD piece expert_piece(const moe_shape& s, const piece* row, int i, int expert) {
  float values[per_piece<bfloat16>];
  if (s.fp8) {
    const float unit = scaled_row::scale(row, s.hidden, i * per_piece<bfloat16> / scaled_row::together);
    for (int j = 0; j < per_piece<bfloat16>; ++j)
      values[j] = expert_output(row[i / 2].get<e4m3>(i % 2 * 8 + j) * unit, expert);
  } else {
    for (int j = 0; j < per_piece<bfloat16>; ++j) values[j] = expert_output(row[i].get<bfloat16>(j), expert);
  }
  return rounded_to<bfloat16>(values);
}

/// The router: for each token of a PE `topk` different experts and their weights, in the order of slots.
struct routing {
  std::vector<std::int32_t> expert;
  std::vector<float> weight;

  routing(const moe_shape& s, int set, int pe) {
    std::uint32_t dice = scrambled(static_cast<std::uint32_t>(set * 1024 + pe + 1));
    for (int token = 0; token < s.tokens; ++token) {
      const auto first = expert.size();
      while (expert.size() < first + static_cast<std::size_t>(s.topk)) {
        dice = scrambled(dice + 0x9e3779b9U);
        // Some experts are chosen more often than others, as in practice.
        const std::uint32_t a = dice % static_cast<std::uint32_t>(s.experts);
        const std::uint32_t b = scrambled(dice) % static_cast<std::uint32_t>(s.experts);
        const auto chosen = static_cast<std::int32_t>(dice >> 30 == 0 ? std::min(a, b) : a);
        if (std::find(expert.begin() + static_cast<std::ptrdiff_t>(first), expert.end(), chosen) == expert.end()) {
          expert.push_back(chosen);
          weight.push_back(static_cast<float>(1 + (dice >> 8) % 127) / 128);
        }
      }
    }
  }
};

/// Adds a piece of an expert's result, weighted. A token's result is the sum in the order of the router's choice.
PGAS_HD void add_weighted(float (&sums)[per_piece<bfloat16>], float weight, const piece& part) {
  for (int j = 0; j < per_piece<bfloat16>; ++j) sums[j] += weight * part.get<bfloat16>(j);
}

/// The number of pieces of a PE's results that differ from the layer computed here by one thread.
inline long long wrong_pieces(const moe_shape& s, int set, int pe, const routing& by, const std::vector<piece>& found) {
  const int pieces = static_cast<int>(s.result_pieces());
  std::vector<piece> token(static_cast<std::size_t>(pieces));
  std::vector<piece> sent(s.token_pieces());
  long long wrong = 0;
  for (int t = 0; t < s.tokens; ++t) {
    const auto first = static_cast<std::size_t>(t) * static_cast<std::size_t>(s.topk);
    for (int i = 0; i < pieces; ++i) token[static_cast<std::size_t>(i)] = token_piece(set, pe, t, i);
    for (int which = 0; s.fp8 && which < s.hidden / scaled_row::together; ++which)
      scaled_row::write(sent.data(), s.hidden, which, token.data());
    const piece* const row = s.fp8 ? sent.data() : token.data();
    for (int i = 0; i < pieces; ++i) {
      float sums[per_piece<bfloat16>] = {};
      for (std::size_t slot = first; slot < first + static_cast<std::size_t>(s.topk); ++slot)
        add_weighted(sums, by.weight[slot], expert_piece(s, row, i, by.expert[slot]));
      const piece expected = rounded_to<bfloat16>(sums);
      const piece& seen = found[static_cast<std::size_t>(t) * s.result_pieces() + static_cast<std::size_t>(i)];
      wrong += !std::equal(std::begin(expected.words), std::end(expected.words), std::begin(seen.words));
    }
  }
  return wrong;
}

}  // namespace examples
