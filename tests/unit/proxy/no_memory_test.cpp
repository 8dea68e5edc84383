// Out of memory: tested in a separate program, whose operator new can be made to fail.
#include "no_memory.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "device/device.hpp"
#include "host/heap/group_segment.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

constexpr std::size_t bytes = std::size_t{2} << 20;

TEST(no_memory, a_segment_that_the_proxy_does_not_give_back_stays_mapped) {
  const auto device = detail::make_cpu_device();
  proxied_world pes(2);
  void* const at = device->reserve(bytes, nullptr);
  std::optional<detail::group_segment> segment(std::in_place, *device, bytes);
  segment->create(handle_kind::posix_fd);
  segment->map_own(at);
  static_cast<void>(segment->expose(pes[0].proxy(), std::size_t{64} << 20));
  no_memory = true;
  segment.reset();
  no_memory = false;
  static_cast<char*>(at)[0] = 1;
  device->release(at, bytes);
}

}  // namespace
}  // namespace pgas::testing
