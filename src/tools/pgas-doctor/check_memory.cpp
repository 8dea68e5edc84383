#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "host/topology/probe_handle_kinds.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/local_checks.hpp"

namespace pgas::doctor {

namespace {

/// A segment that was made or imported, until the end of a scope.
class held_segment {
 public:
  held_segment(detail::device& on, detail::segment_id id) : device_(on), id_(id) {}
  ~held_segment() { device_.destroy(id_); }
  held_segment(const held_segment&) = delete;
  held_segment& operator=(const held_segment&) = delete;
  [[nodiscard]] detail::segment_id get() const noexcept { return id_; }

 private:
  detail::device& device_;
  detail::segment_id id_;
};

/// A segment at an address, until the end of a scope.
class held_mapping {
 public:
  held_mapping(detail::device& on, detail::segment_id id, std::size_t bytes)
      : device_(on), bytes_(bytes), at_(on.reserve(bytes, nullptr)) {
    try {
      device_.map(at_, bytes_, id);
    } catch (...) {
      device_.release(at_, bytes_);
      throw;
    }
  }
  ~held_mapping() {
    device_.unmap(at_, bytes_);
    device_.release(at_, bytes_);
  }
  held_mapping(const held_mapping&) = delete;
  held_mapping& operator=(const held_mapping&) = delete;
  [[nodiscard]] std::uint64_t* words() const noexcept { return static_cast<std::uint64_t*>(at_); }

 private:
  detail::device& device_;
  std::size_t bytes_;
  void* at_;
};

/// Two views of one segment. *Errors* those of the device; device_failed where they show different data.
void share_with_itself(detail::device& on, handle_kind kind) {
  const std::size_t bytes = on.granularity();
  const held_segment made(on, on.create(bytes, kind));
  const detail::exported_handle handle = on.export_segment(made.get());
  const held_segment imported(on, on.import_segment(handle, bytes));
  const held_mapping here(on, made.get(), bytes);
  const held_mapping there(on, imported.get(), bytes);
  constexpr std::uint64_t pattern = 0x0123456789abcdef;
  const std::size_t last = bytes / sizeof pattern - 1;
  there.words()[last] = pattern;
  std::atomic_ref(there.words()[0]).fetch_add(7);
  std::atomic_ref(here.words()[0]).fetch_add(5);
  if (here.words()[last] != pattern || there.words()[0] != 12)
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
