// The descriptors of the PEs' devices.
#include "host/topology/device_descriptor.hpp"

#include <gtest/gtest.h>

#include "pgas/error.hpp"
#include "unit/gpu_descriptor.hpp"

namespace pgas::unit_test {
namespace {

using detail::decode_device_descriptor;
using detail::device_descriptor;

TEST(device_descriptor, arrives_as_it_was_sent) {
  device_descriptor mine = gpu_descriptor("GPU-1", 132, true);
  mine.refusal = "none at all";
  mine.is_misused = true;
  const device_descriptor remote = decode_device_descriptor(encode(mine), 3);
  EXPECT_EQ(remote.kind, heap_kind::cuda);
  EXPECT_EQ(remote.properties.name, "GPU");
  EXPECT_EQ(remote.properties.uuid, "GPU-1");
  EXPECT_EQ(remote.properties.multiprocessors, 132u);
  EXPECT_TRUE(remote.properties.runs_processes_at_once);
  EXPECT_EQ(remote.refusal, "none at all");
  EXPECT_TRUE(remote.is_misused);
  EXPECT_FALSE(decode_device_descriptor(encode(gpu_descriptor("a", 1)), 3).is_misused);
}

TEST(device_descriptor, what_is_none_is_refused) {
  blob cut = encode(gpu_descriptor("a", 1));
  cut.pop_back();
  blob letter = encode(gpu_descriptor("a", 1));
  letter[0] = std::byte{'x'};
  for (const blob& bytes : {blob{}, cut, letter}) {
    try {
      static_cast<void>(decode_device_descriptor(bytes, 3));
      ADD_FAILURE() << bytes.size() << " bytes";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code::bootstrap_protocol);
      EXPECT_EQ(e.pe(), 3);
    }
  }
}

}  // namespace
}  // namespace pgas::unit_test
