// Collectives of the host on the GPU backend: by the library's kernels, and of large reductions half by the copy
// engines.
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/kernels/collective.hpp"

namespace pgas::detail::cuda {

namespace {

/// From how many bytes on an all-reduce is worth a second and a third thing on the stream.
constexpr std::size_t worth_copies = std::size_t{16} << 20;

/// Whether the copy engines carry half of an all-reduce: the same on all members. (The host does not know the members
/// of a list, nor the way to those that are proxied: device memory says so.)
[[nodiscard]] bool by_copies(const context& here, const team_view& team, const collective_request& request) {
  return request.what == collective_kind::reduce && request.count * request.element_bytes >= worth_copies &&
         team.n_pes() > 1 && team.members_ == nullptr && here.routes_ == nullptr;
}

/// `count` elements of a request's from element `first` on.
[[nodiscard]] collective_request part_of(const collective_request& whole, collective_kind what, std::size_t first,
                                         std::size_t count) {
  collective_request part = whole;
  part.what = what;
  part.count = count;
  part.dst = static_cast<std::byte*>(whole.dst) + first * whole.element_bytes;
  part.src = static_cast<const std::byte*>(whole.src) + first * whole.element_bytes;
  return part;
}

}  // namespace

void cuda_device::collective(const context& context, const team_view& team, const collective_request& request,
                             grid_state* blocks, stream_handle stream) {
  const enqueuing on(*this, stream);
  const auto launch = [&](const collective_request& what) {
    check(launch_collective(context, team, what, blocks, on.stream()), "launching a collective", code::launch_failed);
  };
  if (!by_copies(context, team, request)) return launch(request);
  // Each member folds a share, by reading, and copies it to the others: stores of results would share the link with the
  // answers to what others read, which takes longer than one after the other. What does not divide by the members is
  // little and goes as packets. In place, a share is written over by its holder alone, who has read it by then.
  constexpr std::size_t whole_lines = 128;  // elements
  const auto n = static_cast<std::size_t>(team.n_pes());
  const auto me = static_cast<std::size_t>(team.my_pe());
  const std::size_t each = request.count / n / whole_lines * whole_lines;
  collective_request share = part_of(request, collective_kind::reduce_scatter, 0, each);
  share.dst = static_cast<std::byte*>(request.dst) + me * each * request.element_bytes;
  launch(share);
  for (std::size_t k = 1; k < n; ++k) {
    const std::int32_t other = team.world_pe(static_cast<std::int32_t>((me + k) % n));
    check(cudaMemcpyAsync(context.world_remote(static_cast<std::byte*>(share.dst), other), share.dst,
                          each * request.element_bytes, cudaMemcpyDefault, on.stream()),
          "copying a share of a reduction");
  }
  if (const std::size_t rest = request.count - n * each; rest != 0)
    launch(part_of(request, collective_kind::reduce, n * each, rest));
  launch(collective_request{});  // a barrier: the copies of all have arrived
}

}  // namespace pgas::detail::cuda
