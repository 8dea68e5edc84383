// Tests the copies that eight lanes of a warp execute together. Eight CPU threads take the place of the lanes and
// execute the same code as on GPUs, so sanitizers see the memory that each lane accesses.
#include "pgas/device/impl/copy/coalesced_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "body_tools.hpp"

namespace {

using pgas::detail::direction;
using pgas_test::mix;

/// The shared memory with which eight lanes exchange values.
struct exchange_room {
  pgas::detail::cpu_block_state meeting{8};
  std::array<std::array<std::uint64_t, 8>, 2> values{};
};

/// One of eight threads, with the interface of a lane for copy_coalesced(). Exchanges alternate between two arrays of
/// values, so one barrier is sufficient.
class thread_lane {
 public:
  thread_lane(exchange_room& room, std::uint32_t rank) : room_(&room), rank_(rank) {}

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  void sync() const { room_->meeting.arrive_and_wait(); }
  [[nodiscard]] bool any(bool yes) const {
    bool result = false;
    for (const std::uint64_t v : all(yes ? 1 : 0)) result = result || v != 0;
    return result;
  }
  [[nodiscard]] std::uint32_t from_lane(std::uint32_t value, std::uint32_t from) const {
    return static_cast<std::uint32_t>(all(value)[from]);
  }
  template <class T>
  [[nodiscard]] T* from_lane(T* value, std::uint32_t from) const {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(all(reinterpret_cast<std::uintptr_t>(value))[from]));
  }

 private:
  [[nodiscard]] std::array<std::uint64_t, 8> all(std::uint64_t mine) const {
    auto& place = room_->values[turn_++ % 2];
    place[rank_] = mine;
    room_->meeting.arrive_and_wait();
    return place;
  }

  exchange_room* room_;
  std::uint32_t rank_;
  mutable unsigned turn_ = 0;
};

struct request {
  std::size_t bytes;
  std::size_t to;
  std::size_t from;
};

/// Eight requests at the same time, with sizes that differ by orders of magnitude. Both sides of each request are
/// congruent modulo 16.
template <direction Direction>
void eight_at_once(std::uint32_t seed) {
  constexpr std::size_t cell = 4096;
  std::array<request, 8> requests{};
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t r = mix(seed, i);
    const std::size_t most[] = {1, 40, 300, 1900};
    requests[i].bytes = seed == 0 ? 512 : r % (most[r / 16 % 4] + 1);
    requests[i].to = i * cell + r / 64 % 16 + 16;
    requests[i].from = requests[i].to + r / 1024 % 3 * 16;
  }
  std::vector<std::byte> source(8 * cell + 64);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::byte>(mix(static_cast<std::uint32_t>(i), seed));
  std::vector<std::byte> target(source.size() + 16, std::byte{0x5a});
  std::vector<std::byte> expected = target;
  // Both sides have the same distance from a boundary of 16 bytes.
  const std::size_t apart =
      (reinterpret_cast<std::uintptr_t>(source.data()) - reinterpret_cast<std::uintptr_t>(target.data())) % 16;
  for (const request& r : requests) std::memcpy(expected.data() + r.to + apart, source.data() + r.from, r.bytes);

  exchange_room room;
  std::vector<std::thread> lanes;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    lanes.emplace_back([&, rank] {
      const request& r = requests[rank];
      pgas::detail::copy_coalesced<Direction, 1>(thread_lane(room, rank), target.data() + r.to + apart,
                                                 source.data() + r.from, static_cast<std::uint32_t>(r.bytes));
    });
  }
  for (std::thread& lane : lanes) lane.join();
  ASSERT_TRUE(target == expected) << "seed " << seed;
}

TEST(together, eight_requests_of_any_size) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    ASSERT_NO_FATAL_FAILURE(eight_at_once<direction::put>(seed));
    ASSERT_NO_FATAL_FAILURE(eight_at_once<direction::get>(seed));
  }
}

}  // namespace
