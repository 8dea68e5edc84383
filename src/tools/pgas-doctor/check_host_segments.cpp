#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "host/topology/find_domains.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/local_checks.hpp"
#include "tools/pgas-doctor/mapped_segment.hpp"

namespace pgas::doctor {

namespace {

/// Compares two views of one segment. *Errors* those of the device; device_failed if the views show different data.
void share_with_itself(detail::device& on, handle_kind kind) {
  const std::size_t bytes = on.granularity();
  const mapped_segment here(on, on.create(bytes, kind), kind, bytes);
  const detail::exported_handle handle = on.export_segment(here.id());
  const mapped_segment mapped(on, on.import_segment(handle, bytes), kind, bytes);
  constexpr std::uint64_t pattern = 0x0123456789abcdef;
  const std::size_t last = bytes / sizeof pattern - 1;
  mapped.words()[last] = pattern;
  std::atomic_ref(mapped.words()[0]).fetch_add(7);
  std::atomic_ref(here.words()[0]).fetch_add(5);
  if (here.words()[last] != pattern || mapped.words()[0] != 12)
    throw error(code::device_failed, "what was stored at one address is not at the other");
}

}  // namespace

row check_host_segments(const config& settings) {
  const std::unique_ptr<detail::device> device = detail::make_cpu_device();
  std::string works;
  std::string refused;
  bool serves = false;
  for (const handle_kind kind : device->handle_kinds()) {
    const bool wanted = settings.mem_handle == handle_kind::automatic || settings.mem_handle == kind ||
                        (settings.mem_handle == handle_kind::cuda_ipc && kind == handle_kind::named);
    try {
      share_with_itself(*device, kind);
      works += fmt::format("{}{}", works.empty() ? "" : ", ", detail::to_string(kind));
      serves = serves || wanted;
    } catch (const error& why) {
      refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", detail::to_string(kind), why.what());
    }
  }
  const std::string found =
      fmt::format("{}{}{}", works.empty() ? "" : works + ": made, exported, imported, mapped, stored to",
                  works.empty() || refused.empty() ? "" : "; ", refused);
  if (serves) return {"host segments", verdict::ok, found};
  if (settings.heap == heap_kind::cuda) return {"host segments", verdict::ok, found + "; the GPU heap needs none"};
  const bool none = works.empty();
  return {"host segments", verdict::fails,
          none ? found
               : fmt::format("PGAS_MEM_HANDLE={} is no kind of host memory that works here; {}",
                             detail::to_string(settings.mem_handle), found),
          "PEs can't share memory of the host: joining fails on the host heap",
          none ? "the rows memory files, file size and open files name what is in the way" : "unset PGAS_MEM_HANDLE"};
}

}  // namespace pgas::doctor
