#include "map/gpu_link.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "map/link_peaks.hpp"
#include "map/map_summary.hpp"
#include "synthetic_map.hpp"

namespace pgas::perf {
namespace {

TEST(gpu_link, pcie_by_generation_and_lanes) {
  EXPECT_NEAR(pcie_gb_per_s(1, 16), 4.0, 1e-9);
  EXPECT_NEAR(pcie_gb_per_s(4, 16), 31.508, 1e-3);
  EXPECT_NEAR(pcie_gb_per_s(5, 8), 31.508, 1e-3);
  EXPECT_TRUE(std::isnan(pcie_gb_per_s(0, 16)));
  EXPECT_TRUE(std::isnan(pcie_gb_per_s(99, 16)));
  EXPECT_TRUE(std::isnan(pcie_gb_per_s(4, 0)));
}

TEST(gpu_link, nothing_is_known_of_gpus_that_are_not_there) {
  const gpu_links links;
  EXPECT_TRUE(std::isnan(links.between("GPU-no", "GPU-none").gb_per_s));
  EXPECT_TRUE(std::isnan(links.between("", "").gb_per_s));
}

TEST(gpu_link, a_known_peak_counts_before_the_best_pair_of_its_kind) {
  world_map world = synthetic_world(4, 2);
  world.maps = {
      synthetic(4, [](auto from, auto to) { return from / 2 == to / 2 ? 100.0 + static_cast<double>(to) : 10; })};
  world.peaks[0][1] = 450;
  world.links[0][1] = "NVLink";
  const square<link_peak> peaks = peaks_of(world);
  EXPECT_EQ(peaks[0][1].gb_per_s, 450);
  EXPECT_EQ(peaks[0][1].source, "NVLink");
  EXPECT_EQ(peaks[1][0].gb_per_s, 103);  // the best bandwidth of the direct pairs
  EXPECT_EQ(peaks[1][0].source, best_pair);
  EXPECT_EQ(peaks[0][2].gb_per_s, 10);
  EXPECT_EQ(peak_lines(world).size(), 3U);
}

TEST(gpu_link, a_peak_that_was_exceeded_is_of_another_link) {
  world_map world = synthetic_world(2, 1);
  world.maps = {synthetic(2, [](auto, auto) { return 330.0; })};
  for (const auto& [from, to] : {std::pair{0U, 1U}, std::pair{1U, 0U}}) {
    world.peaks[from][to] = 63;
    world.links[from][to] = "PCIe by NVML";
    EXPECT_EQ(peaks_of(world)[from][to].gb_per_s, 330);
    EXPECT_EQ(peaks_of(world)[from][to].source, best_pair);
  }
}

}  // namespace
}  // namespace pgas::perf
