// Writes of a network device to GPU memory become visible before any operation that may signal them.
#include <gtest/gtest.h>

#include <string>

#include "unit/proxy/pes.hpp"
#include "unit/proxy/stepped_world.hpp"

namespace pgas::testing {
namespace {

constexpr detail::pinned_sizes enough{};
constexpr std::size_t large = 1 << 20;  // a bulk put, which the transport executes

/// While an object of this class exists, new devices report this order of remote writes.
class devices_that {
 public:
  explicit devices_that(detail::remote_writes order) { lazy_device::order = order; }
  ~devices_that() { lazy_device::order = detail::remote_writes::visible; }
};

/// PE 0 puts to exposed memory of PE 1 and then executes `tells`, which informs PE 1. Returns the calls of PE 1's
/// device.
std::string told_by(const detail::command& tells, detail::remote_writes order, bool exposed = true) {
  const devices_that have(order);
  stepped_world world(2, true, 11, &enough);
  for (int pe = 0; exposed && pe < 2; ++pe) world.engine(pe).add_exposed(world.slot(pe), slot_bytes);
  const producer ring = world.produce(0);
  ring.push(put(1, 4096, world.slot(0) + 4096, large));
  ring.push(make(detail::command_kind::fence, 1));
  ring.push(tells);
  world.rounds_to_idle();
  return world.device(1).done;
}

TEST(remote_writes, are_flushed_before_a_signal_is_executed) {
  EXPECT_EQ(told_by(signal(1, 0, 1), detail::remote_writes::after_flush), "FU");
}

TEST(remote_writes, are_flushed_before_an_atomic_operation_is_executed) {
  EXPECT_EQ(told_by(add(1, 8, 1), detail::remote_writes::after_flush), "FU");
}

TEST(remote_writes, are_flushed_before_a_value_is_put) {
  EXPECT_EQ(told_by(put_value(1, 8, 1), detail::remote_writes::after_flush), "FC");
}

TEST(remote_writes, are_not_flushed_where_the_device_orders_them) {
  EXPECT_EQ(told_by(signal(1, 0, 1), detail::remote_writes::visible), "U");
}

TEST(remote_writes, are_not_flushed_where_the_memory_is_not_exposed) {
  EXPECT_EQ(told_by(signal(1, 0, 1), detail::remote_writes::after_flush, false).find('F'), std::string::npos);
}

TEST(remote_writes, of_a_get_are_flushed_before_its_answer) {
  const devices_that have(detail::remote_writes::after_flush);
  stepped_world world(2, true, 11, &enough);
  for (int pe = 0; pe < 2; ++pe) world.engine(pe).add_exposed(world.slot(pe), slot_bytes);
  const producer ring = world.produce(0);
  const producer::ticket remote = ring.ask(get(1, world.slot(0) + 4096, 4096, large));
  for (int round = 0; round < 1000 && !ring.is_there(remote); ++round) {
    EXPECT_EQ(world.device(1).done, "");
    world.round();
  }
  ASSERT_TRUE(ring.is_there(remote));
  ASSERT_FALSE(world.device(0).done.empty());
  EXPECT_EQ(world.device(0).done.find_first_not_of('F'), std::string::npos);
}

TEST(remote_writes, are_not_allowed_where_nothing_orders_them) {
  for (const auto order : {detail::remote_writes::never, detail::remote_writes::after_flush}) {
    const devices_that have(order);
    lazy_device device;
    const auto memory = detail::make_device_memory_access(device, enough);
    EXPECT_EQ(memory->transports_may_write(), order != detail::remote_writes::never);
    log::logger log(log_level::warn);
    detail::proxy_settings settings;
    settings.n = 1;
    detail::proxy_thread mine(settings, std::make_shared<loopback_network>(1)->join(0), *memory, log);
    std::vector<std::byte> bytes(4096);
    EXPECT_EQ(mine.expose(0, bytes.data(), bytes.size()).empty(), order == detail::remote_writes::never);
  }
}

}  // namespace
}  // namespace pgas::testing
