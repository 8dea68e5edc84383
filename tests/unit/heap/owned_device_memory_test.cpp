// The memory is released with its owner, also after errors.
#include "device/owned_device_memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "host/launch/grid_state_pool.hpp"
#include "pgas/error.hpp"
#include "unit/heap/faulty_device.hpp"

namespace pgas::unit_test {
namespace {

using detail::device_block;
using detail::mapped_block;

/// Counts the allocations that exist.
class counting_device : public faulty_device {
 public:
  int mapped = 0;
  int local = 0;
  bool copies = true;

  detail::mapped_memory allocate_mapped(std::size_t bytes) override {
    ++mapped;
    return faulty_device::allocate_mapped(bytes);
  }
  void free_mapped(detail::mapped_memory block) noexcept override {
    --mapped;
    faulty_device::free_mapped(block);
  }
  void* allocate_device(std::size_t bytes) override {
    ++local;
    return faulty_device::allocate_mapped(bytes).host;
  }
  void free_device(void* block) noexcept override {
    --local;
    faulty_device::free_mapped({block, block});
  }
  void copy(void* to, const void* from, std::size_t bytes, detail::stream_handle stream) override {
    if (!copies) throw error(code::device_failed, "no copy in this test");
    faulty_device::copy(to, from, bytes, stream);
  }
};

TEST(owned_memory, is_freed_once) {
  counting_device device;
  {
    mapped_block none;
    EXPECT_FALSE(none);
    mapped_block item(device, 100);
    EXPECT_TRUE(item);
    EXPECT_EQ(item.on_host(), item.on_device());
    mapped_block other(std::move(item));
    none = std::move(other);
    none = {device, 200};
    EXPECT_EQ(device.mapped, 1);
    none = {};
    EXPECT_EQ(device.mapped, 0);

    std::vector<device_block> blocks;
    for (int i = 0; i < 10; ++i) blocks.emplace_back(device, 64);
    blocks[3] = {};
    EXPECT_EQ(device.local, 9);
    EXPECT_NE(blocks[0].get(), nullptr);
  }
  EXPECT_EQ(device.mapped, 0);
  EXPECT_EQ(device.local, 0);
}

TEST(owned_memory, states_of_grids_go_where_they_can_not_be_filled) {
  counting_device device;
  detail::grid_state_pool areas(device, context{});
  device.copies = false;
  EXPECT_THROW(static_cast<void>(areas.state_of(nullptr)), error);
  EXPECT_EQ(device.local, 0);
  device.copies = true;
  EXPECT_NE(areas.state_of(nullptr), nullptr);
  EXPECT_EQ(device.local, 1);
}

}  // namespace
}  // namespace pgas::unit_test
