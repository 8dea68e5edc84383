/// @file
/// Out of memory: tested in a separate program, whose operator new can be made to fail. A member leaves without
/// allocating memory, because a destructor that throws ends the process. The other members are told that the member has
/// left.
#include "no_memory.hpp"

#include <atomic>
#include <memory>

#include "support.hpp"

namespace pgas::boot::test {
namespace {

/// Destroys `one` while the calling thread cannot allocate memory.
template <class T>
void destroy_without_memory(std::unique_ptr<T>& one) {
  no_memory = true;
  one.reset();
  no_memory = false;
}

/// Ranks 0 to 2 leave, the last rank first, while the others wait in a barrier. The waiting ranks are told which rank
/// has left.
void leave_one_by_one(const std::function<std::unique_ptr<bootstrap>(int rank)>& join) {
  const auto thrown = run_ranks(all_ranks(3), [&](int rank) {
    std::unique_ptr<bootstrap> mine = join(rank);
    mine->barrier();
    std::optional<error> failure;
    if (rank != 2) failure = thrown_by([&] { mine->barrier(); });
    destroy_without_memory(mine);
    if (failure) throw *failure;
  });
  EXPECT_FALSE(thrown[2]);
  for (const int rank : {0, 1}) {
    const auto& e = thrown[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::peer_lost);
    EXPECT_EQ(e->pe(), 2);
    EXPECT_SAYS(*e, "has left");
  }
}

TEST(no_memory, a_member_of_a_world_by_unique_id_leaves) {
  const std::string id = make_unique_id();
  leave_one_by_one([&](int rank) { return make_bootstrap(member_of(id, rank, 3)).exchange; });
}

TEST(no_memory, a_member_of_a_world_by_address_leaves) {
  const int port = free_port();
  leave_one_by_one([&](int rank) { return make_bootstrap(member_at(port, rank, 3)).exchange; });
}

TEST(no_memory, a_thread_leaves) {
  auto members = make_thread_bootstraps(3);
  leave_one_by_one([&](int rank) { return std::move(members[static_cast<std::size_t>(rank)]); });
}

}  // namespace
}  // namespace pgas::boot::test
