// Domains: the PEs that share memory.
#include "host/topology/domains.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "host/topology/p2p_setting.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using detail::domains;

TEST(domains, members_are_numbered_in_the_order_of_pes) {
  run_threads(4, [](bootstrap& exchange) {
    joined_pe pe(exchange, quick());
    const domains view(pe.control_plane.my_pe(), detail::agree_on_p2p_sets(pe.control_plane, "1,3"));
    const int me = pe.control_plane.my_pe();
    if (me % 2 == 1) {
      EXPECT_EQ(std::vector<int>(view.members().begin(), view.members().end()), (std::vector<int>{1, 3}));
      EXPECT_EQ(view.index(1), 0);
      EXPECT_EQ(view.index(3), 1);
      EXPECT_FALSE(view.direct(0));
    } else {
      EXPECT_EQ(std::vector<int>(view.members().begin(), view.members().end()), (std::vector<int>{me}));
      EXPECT_EQ(view.index(1), -1);
    }
    EXPECT_EQ(view.largest(), 2);
    EXPECT_FALSE(view.only_one());
    EXPECT_TRUE(domains(me, detail::agree_on_p2p_sets(pe.control_plane, "all")).only_one());
    pe.control_plane.leave();
  });
}

}  // namespace
}  // namespace pgas::unit_test
