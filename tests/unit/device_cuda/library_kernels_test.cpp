// The library's kernels: their code for each architecture, the kernel of each collective, and its shape. No GPU is
// needed.
#include "device/cuda/kernels/library_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "device/both_backends/execute_collective.hpp"
#include "device/cuda/kernels/kernel_images.hpp"
#include "pgas/error.hpp"

namespace pgas::unit_test {
namespace {

using namespace detail;

std::set<std::string_view> sources() {
  std::set<std::string_view> all;
  for (const cuda::kernel_image& each : cuda::kernel_images()) all.insert(each.source);
  return all;
}

TEST(kernel_images, every_source_has_the_same_architectures) {
  EXPECT_EQ(sources().size(), 5u);
  std::set<std::set<std::pair<bool, unsigned>>> all;
  for (const std::string_view source : sources()) {
    std::set<std::pair<bool, unsigned>> architectures;
    for (const cuda::kernel_image& each : cuda::kernel_images())
      if (each.source == source) architectures.emplace(each.is_ptx, each.architecture);
    all.insert(architectures);
  }
  EXPECT_EQ(all.size(), 1u);
}

TEST(kernel_images, code_has_every_kernel) {
  constexpr std::array<std::pair<const char*, const char*>, cuda::n_library_kernels> expected{{
      {"operation_kernels", "pgas_operation"},
      {"operation_kernels", "pgas_strided"},
      {"operation_kernels", "pgas_list"},
      {"operation_kernels", "pgas_updates"},
      {"operation_kernels", "pgas_use_stack"},
      {"operation_kernels", "pgas_read_clock"},
      {"collective_kernels_untyped", "pgas_collective_untyped"},
      {"collective_kernels_integers", "pgas_collective_integers"},
      {"collective_kernels_reals", "pgas_collective_reals"},
      {"collective_kernels_pairs", "pgas_collective_pairs"},
  }};
  for (const cuda::kernel_image& each : cuda::kernel_images()) {
    const std::vector<char> code = each.code();
    const std::string text(code.data(), code.size() - 1);
    EXPECT_EQ(code.back(), 0);
    EXPECT_EQ(text.starts_with("\x7f"
                               "ELF"),
              !each.is_ptx)
        << each.source << " " << each.architecture;
    for (const auto& [source, kernel] : expected)
      EXPECT_EQ(text.find(kernel) != std::string::npos, source == each.source) << kernel << " in " << each.source;
  }
}

TEST(kernel_images, damaged_code_is_refused) {
  const cuda::kernel_image& first = cuda::kernel_images()[0];
  std::vector<std::byte> damaged(first.compressed.begin(), first.compressed.end());
  damaged[damaged.size() / 2] ^= std::byte{1};
  EXPECT_THROW(static_cast<void>(cuda::kernel_image{first.source, 90, false, damaged}.code()), error);
}

TEST(image_for, prefers_machine_code_of_the_same_major_number_then_the_newest_ptx) {
  const std::array<cuda::kernel_image, 7> images{{{"a", 80, false, {}},
                                                  {"a", 86, false, {}},
                                                  {"a", 90, false, {}},
                                                  {"a", 120, false, {}},
                                                  {"a", 75, true, {}},
                                                  {"a", 90, true, {}},
                                                  {"b", 100, false, {}}}};
  const auto found = [&](unsigned capability) -> std::pair<bool, unsigned> {
    const cuda::kernel_image* const image = cuda::image_for(images, "a", capability);
    return image == nullptr ? std::pair{false, 0u} : std::pair{image->is_ptx, image->architecture};
  };
  using choice = std::pair<bool, unsigned>;
  EXPECT_EQ(found(70), choice(false, 0));
  EXPECT_EQ(found(75), choice(true, 75));
  EXPECT_EQ(found(80), choice(false, 80));
  EXPECT_EQ(found(87), choice(false, 86));
  EXPECT_EQ(found(90), choice(false, 90));
  EXPECT_EQ(found(103), choice(true, 90));
  EXPECT_EQ(found(121), choice(false, 120));
  EXPECT_EQ(cuda::architectures_of(images), "8.0, 8.6, 9.0, 10.0, 12.0, PTX for 7.5, PTX for 9.0");
}

TEST(kernel_of, a_collective_without_a_kernel_has_none) {
  collective_request request;
  request.what = collective_kind::reduce;
  request.op = reduction::maxloc;
  request.type = number_type::f16;
  EXPECT_EQ(cuda::kernel_of(request), std::nullopt);
  request.op = reduction::none;
  EXPECT_EQ(cuda::kernel_of(request), std::nullopt);
  request.op = reduction::sum;
  EXPECT_EQ(cuda::kernel_of(request), cuda::library_kernel::reduce_reals);
  request.type = number_type::u32;
  EXPECT_EQ(cuda::kernel_of(request), cuda::library_kernel::reduce_integers);
  request.type = number_type::complex_f32;
  EXPECT_EQ(cuda::kernel_of(request), cuda::library_kernel::reduce_pairs);
  request.what = collective_kind::broadcast;
  EXPECT_EQ(cuda::kernel_of(request), cuda::library_kernel::move);
}

TEST(shape_of_collectives, members_that_only_meet_are_one_warp) {
  collective_request request;
  for (const collective_kind what : {collective_kind::barrier, collective_kind::sync}) {
    request.what = what;
    EXPECT_EQ(cuda::threads_for(request), 32u);
  }
  request.what = collective_kind::broadcast;
  EXPECT_EQ(cuda::threads_for(request), cuda::max_collective_threads);
}

TEST(shape_of_collectives, blocks_come_with_the_data) {
  team_view team;
  team.n_pes_ = 4;
  collective_request request;
  request.most_blocks = team_state_layout::most_blocks;
  EXPECT_EQ(cuda::blocks_for(request, team), 1u);
  request.what = collective_kind::reduce;
  request.element_bytes = 4;
  request.count = 1000;
  EXPECT_EQ(cuda::blocks_for(request, team), 1u);
  request.count = 50'000;  // 400 kB in and 400 kB out
  EXPECT_EQ(cuda::blocks_for(request, team), 13u);
  request.count = std::size_t{1} << 40;
  EXPECT_EQ(cuda::blocks_for(request, team), team_state_layout::most_blocks);
  request.most_blocks = 8;  // the limit for PEs that share a GPU
  EXPECT_EQ(cuda::blocks_for(request, team), 8u);
}

TEST(shape_of_collectives, blocks_are_as_many_as_pushes_need) {
  team_view team;
  team.staging_offset_ = 1 << 20;
  collective_request request;
  request.most_blocks = team_state_layout::most_blocks;
  request.what = collective_kind::reduce;
  request.element_bytes = 4;
  const float* const src = nullptr;  // a null pointer is as aligned as an allocation
  for (const int n : {2, 3, 4, 7, 8, 64}) {
    team.n_pes_ = n;
    const std::size_t most = (std::size_t{team_state_layout::most_blocks} << log2_oneshot_bytes(n)) / 4;
    for (const std::size_t count : {std::size_t{1}, most / 7, most / 2 + 1, most - 1, most, most + 1}) {
      request.count = count;
      const partition all = block_partition(src, count, cuda::blocks_for(request, team));
      EXPECT_EQ(fits_oneshot(team, src, all), count <= most) << count << " elements of " << n << " members";
    }
  }
}

TEST(shape_of_collectives, blocks_are_as_many_as_packets_need) {
  team_view team;
  team.staging_offset_ = 1 << 20;
  collective_request request;
  request.what = collective_kind::reduce;
  request.element_bytes = 4;
  const float* const src = nullptr;
  for (const int n : {2, 3, 4, 8, 16}) {
    team.n_pes_ = n;
    for (const unsigned blocks : {32U, 8U, 1U}) {
      request.most_blocks = blocks;
      const std::size_t most = std::size_t{8 << 10} * blocks / 4 / static_cast<std::size_t>(n);
      for (const std::size_t count : {std::size_t{1}, most / 5, most / 2, most - most / 8}) {
        request.count = count;
        const partition all = block_partition(src, count, cuda::blocks_for(request, team));
        EXPECT_LE(ll_units(all.each * 4) * ll_unit_packed_bytes * static_cast<std::uint64_t>(n),
                  team_state_layout::packet_buffer_bytes(true))
            << count << " elements of " << n << " members by " << blocks << " blocks";
      }
    }
  }
}

}  // namespace
}  // namespace pgas::unit_test
