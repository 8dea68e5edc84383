#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>

#include "common/net/address.hpp"
#include "device/cpu/host_segment.hpp"
#include "device/device.hpp"
#include "host/heap/address_layout.hpp"
#include "host/heap/heap_parameters.hpp"
#include "host/heap/offset_allocator.hpp"
#include "host/log/format_bytes.hpp"
#include "tools/pgas-doctor/local_checks.hpp"

namespace pgas::doctor {

namespace {

rlimit limit_of(__rlimit_resource which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0) limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
  return limit;
}

std::string text_of(rlim_t limit) { return limit == RLIM_INFINITY ? "unlimited" : detail::format_bytes(limit); }

}  // namespace

row check_locked_memory() {
  constexpr rlim_t enough = rlim_t{1} << 30;
  const rlim_t limit = limit_of(RLIMIT_MEMLOCK).rlim_cur;
  const std::vector<std::string> ports = detail::rdma_ports();
  if (limit == RLIM_INFINITY || limit >= enough) return {"locked memory", verdict::ok, text_of(limit)};
  if (ports.empty())
    return {"locked memory", verdict::ok,
            text_of(limit) + "; there is no InfiniBand or RoCE port that would lock memory"};
  return {"locked memory", verdict::slow,
          fmt::format("{}, and {} needs the heap locked", text_of(limit), ports.front()),
          "the heap can't be registered with the network device: transfers are staged, or go over TCP",
          "ulimit -l unlimited (under Slurm: LimitMEMLOCK=infinity for slurmd; docker run --ulimit memlock=-1)"};
}

row check_file_size(const config& settings) {
  const rlim_t limit = limit_of(RLIMIT_FSIZE).rlim_cur;
  if (limit == RLIM_INFINITY) return {"file size", verdict::ok, "unlimited"};
  // Joining makes a first segment. If the library's own first allocation does not fit into this segment, joining makes
  // a second segment.
  const std::size_t least = std::max(settings.segment_size, detail::first_allocation(1).bytes);
  const bool host = settings.heap != heap_kind::cuda;
  if (host && limit < least + (std::size_t{2} << 20))
    return {"file size", verdict::fails, text_of(limit),
            "shared memory counts as files: no segment of the host heap can be made", "ulimit -f unlimited"};
  return {"file size", verdict::slow, text_of(limit),
          "shared memory counts as files: no single allocation can be larger", "ulimit -f unlimited"};
}

row check_memory(const config& settings) {
  constexpr std::size_t little = std::size_t{64} << 20;
  const std::size_t available = detail::available_memory();
  const std::string found = fmt::format("{} of host memory are available{}", detail::format_bytes(available),
                                        detail::strict_overcommit() ? ", under strict overcommit" : "");
  if (available < std::max(little, settings.heap == heap_kind::cuda ? 0 : settings.segment_size))
    return {"memory", verdict::fails, found, "there is no room for the first segment of a heap",
            "more memory for the container (docker run --memory), or fewer PEs on the host"};
  if (settings.heap_limit != 0 && settings.heap_limit < detail::first_allocation(1).bytes + (std::size_t{1} << 20))
    return {"memory", verdict::fails, fmt::format("PGAS_HEAP_LIMIT is {}", detail::format_bytes(settings.heap_limit)),
            "the library's own part of a heap does not fit", "PGAS_HEAP_LIMIT=64M, or unset PGAS_HEAP_LIMIT"};
  return {"memory", verdict::ok, found};
}

row check_address_space(const config& settings, int pes) {
  const std::unique_ptr<detail::device> device = detail::make_cpu_device();
  detail::heap_parameters wanted;
  wanted.unit = std::max<std::uint64_t>(device->granularity(), detail::offset_allocator::large_alignment);
  wanted.limit = settings.heap_limit != 0 ? settings.heap_limit : device->properties().memory_bytes;
  wanted.limit = std::min<std::uint64_t>(wanted.limit, detail::address_layout::most_addresses);
  wanted.limit_is_set = settings.heap_limit != 0 ? 1 : 0;
  wanted.stride = std::min<std::uint64_t>(settings.heap_stride, detail::address_layout::most_addresses);
  wanted.segment = settings.segment_size;
  wanted = detail::with_strides(wanted, pes, detail::first_allocation(pes));
  const auto n = static_cast<std::size_t>(pes);
  std::size_t stride = wanted.stride;
  while (stride > wanted.least_stride && stride > detail::address_layout::most_addresses / n) stride /= 2;
  const std::size_t whole = stride;
  std::string why;
  for (; stride >= wanted.least_stride; stride /= 2) {
    try {
      void* const at = device->reserve(n * stride, nullptr);
      device->release(at, n * stride);
    } catch (const error& refused) {
      why = refused.what();
      continue;
    }
    const std::string found =
        fmt::format("{} for the slots of {} PE{}", detail::format_bytes(n * stride), pes, pes == 1 ? "" : "s");
    if (stride == whole && limit_of(RLIMIT_AS).rlim_cur == RLIM_INFINITY) return {"address space", verdict::ok, found};
    return {"address space", verdict::slow,
            fmt::format("{}, instead of {} (ulimit -v is {})", found, detail::format_bytes(n * whole),
                        text_of(limit_of(RLIMIT_AS).rlim_cur)),
            fmt::format("a heap can't grow beyond {} for each PE, and programs that need more addresses fail",
                        detail::format_bytes(stride / 2)),
            "ulimit -v unlimited"};
  }
  return {"address space", verdict::fails, why, "the layout can't be reserved: joining fails",
          limit_of(RLIMIT_AS).rlim_cur == RLIM_INFINITY ? "a smaller PGAS_HEAP_STRIDE or PGAS_HEAP_LIMIT"
                                                        : "ulimit -v unlimited"};
}

row check_open_files(int pes) {
  const rlimit limit = limit_of(RLIMIT_NOFILE);
  // Joining needs `least` descriptors, and raises the limit to `usual` for segments and UCX (allow_descriptors_for()).
  const auto least = static_cast<rlim_t>(5 + 3 * pes);
  const auto usual = static_cast<rlim_t>(256 + 9 * pes);
  const std::string found = fmt::format("{} of {} that joining asks for", limit.rlim_max, usual);
  const std::string fix =
      fmt::format("ulimit -n {} (as root, or in /etc/security/limits.conf; docker run --ulimit nofile={})",
                  std::max<rlim_t>(usual, 1024), std::max<rlim_t>(usual, 1024));
  if (limit.rlim_max >= usual)
    return {"open files", verdict::ok, fmt::format("{}, may be raised to {}", limit.rlim_cur, limit.rlim_max)};
  if (limit.rlim_max < least)
    return {"open files", verdict::fails, found,
            "joining runs out of descriptors: sockets to the PEs and handles of memory", fix};
  return {"open files", verdict::unknown, found,
          "joining works, but each segment by which the heap grows needs a descriptor for each PE", fix};
}

}  // namespace pgas::doctor
