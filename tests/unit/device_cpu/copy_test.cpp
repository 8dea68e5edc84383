// Bulk copies, with the slices of all threads executed one after another: groups of any size, any alignment, any
// length. Groups on the CPU have few threads; this test covers the paths of many threads.
#include "pgas/device/impl/copy/copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace pgas::unit_test {
namespace {

using detail::copy_bulk;
using detail::direction;

/// Makes copies of one kind and one alignment. The groups have `threads` threads. Some copies have random lengths.
/// Other copies have lengths from which on the copy takes another path.
template <direction Direction, std::size_t Unit, std::uint32_t Lanes>
void try_copies(std::uint32_t threads) {
  std::mt19937 random(threads * 16 + static_cast<std::uint32_t>(Unit));
  const std::size_t round = std::size_t{threads} / Lanes * Lanes * detail::copies_in_flight * 16;
  std::vector<std::size_t> lengths = {0,   Unit,      16,         32,    48,         496,
                                      512, round / 2, round - 16, round, round + 16, 3 * round + 512};
  for (int i = 0; i < 30; ++i) lengths.push_back(random() % (2 * round + 100));
  constexpr std::size_t margin = 64;
  for (std::size_t bytes : lengths) {
    bytes = bytes / Unit * Unit;
    const std::size_t from = random() % (16 / Unit) * Unit;
    const std::size_t to = random() % 3 == 0 ? random() % (16 / Unit) * Unit : from;
    std::vector<std::byte> source(bytes + from + 2 * margin);
    for (std::byte& each : source) each = static_cast<std::byte>(random());
    std::vector<std::byte> target(bytes + to + 2 * margin, std::byte{0x5a});
    std::vector<std::byte> expected = target;
    const auto aligned = [](std::byte* at) { return at + (0 - reinterpret_cast<std::uintptr_t>(at)) % 16; };
    std::byte* const src = aligned(source.data()) + from;
    std::byte* const dst = aligned(target.data()) + margin / 2 + to;
    if (bytes != 0) std::memcpy(expected.data() + (dst - target.data()), src, bytes);
    for (std::uint32_t rank = 0; rank < threads; ++rank)
      copy_bulk<Direction, Unit, Lanes>(dst, src, bytes, {rank, threads});
    ASSERT_EQ(target, expected) << bytes << " bytes from " << from << " to " << to << " by " << threads << " threads";
  }
}

template <direction Direction, std::size_t Unit>
void try_groups() {
  for (const std::uint32_t threads : {1u, 2u, 5u, 31u}) try_copies<Direction, Unit, 1>(threads);
  for (const std::uint32_t threads : {32u, 40u, 64u, 100u, 500u, 512u, 530u, 1024u})
    try_copies<Direction, Unit, 32>(threads);
}

template <direction Direction>
void try_units() {
  try_groups<Direction, 1>();
  try_groups<Direction, 2>();
  try_groups<Direction, 4>();
  try_groups<Direction, 8>();
  try_groups<Direction, 16>();
}

TEST(copy, puts_every_byte_and_no_other) { try_units<direction::put>(); }
TEST(copy, gets_every_byte_and_no_other) { try_units<direction::get>(); }

}  // namespace
}  // namespace pgas::unit_test
