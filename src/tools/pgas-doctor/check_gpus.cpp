#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "device/device.hpp"
#include "device/gpu_facts.hpp"
#include "host/config/read_environment.hpp"
#include "host/log/format_bytes.hpp"
#include "host/topology/find_domains.hpp"
#include "host/topology/numa_affinity.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/child_trial.hpp"
#include "tools/pgas-doctor/local_checks.hpp"
#include "tools/pgas-doctor/mapped_segment.hpp"

namespace pgas::doctor {

namespace {

using detail::gpu_facts;
using detail::gpu_survey;

constexpr std::chrono::milliseconds limit_of_driver{
    60'000};  // without persistence mode, the first use of the driver takes long

std::string version(int cuda) { return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10); }

row row_of_driver(const gpu_survey& all) {
  const std::string found = fmt::format("driver for CUDA {}, kernels of the library compiled by CUDA {}",
                                        version(all.driver), version(all.kernels));
  if (all.driver / 1000 >= all.kernels / 1000) return {"GPU driver", verdict::ok, found};
  return {"GPU driver", verdict::fails, found, "kernels of this library don't load: the GPU heap can't be used",
          fmt::format("a driver for CUDA {} or newer; or PGAS_HEAP=host", version(all.kernels))};
}

row row_of_gpus(const gpu_survey& all) {
  std::string found = fmt::format("{} visible", all.gpus.size());
  for (const gpu_facts& gpu : all.gpus)
    found += fmt::format("; {} {} {}", gpu.name, detail::format_bytes(gpu.memory_bytes), gpu.uuid);
  for (const gpu_facts& gpu : all.gpus) {
    if (gpu.prohibited)
      return {"GPUs", verdict::fails, found,
              fmt::format("no process may use {}: its compute mode is prohibited", gpu.uuid),
              "nvidia-smi -c DEFAULT (as root)"};
    if (gpu.exclusive && !all.mps)
      return {"GPUs", verdict::slow, found,
              fmt::format("only one process may use {} at a time (compute mode exclusive)", gpu.uuid),
              "nvidia-smi -c DEFAULT (as root), or start MPS: nvidia-cuda-mps-control -d"};
  }
  return {"GPUs", verdict::ok, found};
}

/// Whether each GPU can access every other GPU, and by which operations.
row row_of_pairs(const gpu_survey& all) {
  std::vector<std::string> apart;
  std::vector<std::string> emulated;
  for (std::size_t from = 0; from < all.gpus.size(); ++from) {
    for (const detail::gpu_pair& pair : all.gpus[from].peers) {
      if (!pair.access)
        apart.push_back(fmt::format("{}-{}", from, pair.to));
      else if (!pair.native_atomics)
        emulated.push_back(fmt::format("{}-{}", from, pair.to));
    }
  }
  constexpr const char* fix =
      "nvidia-smi topo -p2p r and -p2p a show why (IOMMU, PCIe ACS, a MIG part, another PCIe root)";
  if (!apart.empty())
    return {"GPU pairs", verdict::slow, fmt::format("no load and store between {}", fmt::join(apart, ", ")),
            "PEs on these GPUs are proxied, staged through the host", fix};
  if (!emulated.empty())
    return {"GPU pairs", verdict::slow, fmt::format("no native atomics between {}", fmt::join(emulated, ", ")),
            "atomics and signals between these GPUs are slow, or not atomic with those of the GPU itself", fix};
  return {"GPU pairs", verdict::ok,
          all.gpus.size() < 2 ? "one GPU, so there are none" : "load, store and native atomics between all"};
}

row row_of_fabric(const gpu_survey& all, const config& settings) {
  const bool handles = std::ranges::all_of(all.gpus, [](const gpu_facts& gpu) { return gpu.fabric_handles; });
  const std::string found =
      fmt::format("fabric handles: {}; IMEX channel: {}", handles ? "the driver has them" : "not on these GPUs",
                  all.fabric_channel ? "there" : "none");
  if (settings.mem_handle == handle_kind::fabric && !(handles && all.fabric_channel))
    return {"GPU fabric", verdict::fails, found, "PGAS_MEM_HANDLE=fabric asks for them",
            handles ? "nvidia-modprobe -c 0, or the job's prolog, makes a channel; or unset PGAS_MEM_HANDLE"
                    : "unset PGAS_MEM_HANDLE"};
  return {"GPU fabric", verdict::ok, found + "; only GPUs of several hosts on one NVLink need them"};
}

row row_of_mps(const gpu_survey& all) {
  const auto share = config_detail::setting_of_others("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  if (share && !all.mps)
    return {"MPS", verdict::unknown,
            fmt::format("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE is {}, but there is no MPS server", *share),
            "the variable has no effect", "nvidia-cuda-mps-control -d"};
  if (share && *share != "100")
    return {"MPS", verdict::slow, fmt::format("a process has {} % of the multiprocessors", *share),
            "fewer blocks of a kernel are resident",
            "unset CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, unless the GPU is shared on purpose"};
  return {"MPS", verdict::ok, all.mps ? "on" : "off; without it, the PEs on one GPU run one after another"};
}

row row_of_clocks(const gpu_survey& all) {
  std::string found;
  std::string held;
  bool idle_unloads = false;
  for (std::size_t i = 0; i < all.gpus.size(); ++i) {
    const gpu_facts& gpu = all.gpus[i];
    if (gpu.clock && gpu.highest)
      found += fmt::format("{}GPU {}: {} of {} MHz", found.empty() ? "" : ", ", i, *gpu.clock, *gpu.highest);
    if (!gpu.slowed.empty()) held += fmt::format("{}GPU {} by {}", held.empty() ? "" : ", ", i, gpu.slowed);
    idle_unloads = idle_unloads || gpu.persistent == false;
  }
  if (found.empty())
    return {"GPU clocks", verdict::unknown, "NVML (libnvidia-ml.so.1) is not here", "clocks can't be read", ""};
  if (!held.empty())
    return {"GPU clocks", verdict::slow, found + "; held down: " + held,
            "kernels run slower than on a cool GPU with its full power", "nvidia-smi -q -d PERFORMANCE says more"};
  if (idle_unloads)
    return {"GPU clocks", verdict::slow, found + "; persistence mode is off",
            "joining on an idle machine takes seconds longer", "nvidia-smi -pm 1 (as root), or nvidia-persistenced"};
  return {"GPU clocks", verdict::ok, found};
}

/// Whether this process runs on CPUs that are near a GPU.
row row_of_locality(const gpu_survey& all) {
  const std::vector<int> allowed = detail::allowed_cpus();
  std::vector<int> every(static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF))));
  std::iota(every.begin(), every.end(), 0);
  std::string found;
  bool close_by = false;
  for (std::size_t i = 0; i < all.gpus.size(); ++i) {
    const detail::locality near = detail::locality_of(all.gpus[i].pci, every);
    if (near.node < 0) {
      close_by = true;
      continue;
    }
    found += fmt::format("{}GPU {} on node {}", found.empty() ? "" : ", ", i, near.node);
    close_by = close_by || near.cpus.empty() || std::ranges::any_of(near.cpus, [&](int cpu) {
                 return std::ranges::find(allowed, cpu) != allowed.end();
               });
  }
  if (close_by) return {"NUMA", verdict::ok, found.empty() ? "the system names no nodes of the GPUs" : found};
  return {"NUMA", verdict::slow, fmt::format("{}; this process may use CPUs {} only", found, fmt::join(allowed, ",")),
          "every command to the GPU crosses NUMA nodes", "mpirun --bind-to none, or srun --cpu-bind=none, or numactl"};
}

/// For each kind of handle, makes a segment of GPU memory and imports the segment into this process.
row row_of_segments(const config& settings) {
  const std::unique_ptr<detail::device> device = detail::make_cuda_device(settings, 0);
  const std::size_t bytes = device->granularity();
  std::string works;
  std::string refused;
  for (const handle_kind kind : device->handle_kinds()) {
    if (device->places(kind)) continue;  // a legacy handle needs another process; check_sharing() tries it
    try {
      const mapped_segment result(*device, device->create(bytes, kind), kind, bytes);
      const mapped_segment opened(*device, device->import_segment(device->export_segment(result.id()), bytes), kind,
                                  bytes);
      device->fill(opened.words(), 0, bytes, nullptr);
      detail::operation_request add;
      add.what = detail::operation_request::kind::atomic;
      add.how = detail::atomic_update::add;
      add.to = opened.words();
      add.value[0] = 7;
      if (device->fetch(add) != 0) throw error(code::device_failed, "cleared memory was not zero");
      works += fmt::format("{}{}", works.empty() ? "" : ", ", detail::to_string(kind));
    } catch (const error& why) {
      refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", detail::to_string(kind), why.what());
    }
  }
  const std::string found =
      fmt::format("{}{}{}", works.empty() ? "" : works + ": made, exported, imported, mapped, stored to, updated",
                  works.empty() || refused.empty() ? "" : "; not ", refused);
  if (!works.empty()) return {"GPU segments", verdict::ok, found};
  return {"GPU segments", verdict::slow, found,
          "GPU memory can be shared by legacy handles alone, if at all: no growing heap",
          "a driver of 580 or newer; in a container also --gpus with the same driver as the host's"};
}

nlohmann::json survey(const config& settings, const request& how) {
  const gpu_survey all = detail::survey_gpus();
  std::vector<row> rows{row_of_driver(all), row_of_gpus(all),   row_of_pairs(all),   row_of_fabric(all, settings),
                        row_of_mps(all),    row_of_clocks(all), row_of_locality(all)};
  if (!how.quick) rows.push_back(row_of_segments(settings));
  nlohmann::json found{{"rows", nlohmann::json::array()}, {"uuids", nlohmann::json::array()}};
  for (const row& each : rows) found["rows"].push_back(to_json(each));
  for (const gpu_facts& each : all.gpus) found["uuids"].push_back(each.uuid);
  return found;
}

}  // namespace

gpu_findings check_gpus(const config& settings, const request& how) {
  if (settings.heap == heap_kind::host) return {{{"GPUs", verdict::ok, "none: host heap, as PGAS_HEAP asks"}}, {}};
  // Runs in a child process for two reasons: a driver that hangs would also stop this process, and a process must not
  // fork after it has used the driver.
  const trial seen = try_in_child(limit_of_driver, [&] {
    return survey(settings, how).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  });
  if (!seen.result) {
    if (settings.heap == heap_kind::cuda)
      return {{{"GPUs", verdict::fails, seen.failure, "PGAS_HEAP=cuda asks for a GPU: joining fails",
                "nvidia-smi and CUDA_VISIBLE_DEVICES inside the job; or PGAS_HEAP=host"}},
              {}};
    std::error_code none;
    if (std::filesystem::exists("/dev/nvidiactl", none))
      return {
          {{"GPUs", verdict::slow, "there is one, but: " + seen.failure, "the heap is in host memory",
            "a libpgas built where nvcc is; in a container docker run --gpus all, which brings the driver's library"}},
          {}};
    return {{{"GPUs", verdict::ok, "none: host heap; " + seen.failure}}, {}};
  }
  const nlohmann::json found = nlohmann::json::parse(*seen.result);
  gpu_findings all;
  for (const nlohmann::json& each : found["rows"]) all.rows.push_back(row_from(each));
  found["uuids"].get_to(all.uuids);
  return all;
}

}  // namespace pgas::doctor
