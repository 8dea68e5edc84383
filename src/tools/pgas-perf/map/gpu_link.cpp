#include "map/gpu_link.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "common/nvml.hpp"

namespace pgas::perf {

namespace {

// The part of nvml.h that is used here, with names that resemble NVML's names.
using nvml_device = detail::nvml::gpu;
constexpr int success = detail::nvml::success;
constexpr unsigned most_links = 36;
constexpr int p2p_caps_index_nvlink = 2;
constexpr int p2p_status_ok = 0;
constexpr int remote_is_switch = 2;
constexpr unsigned field_nvlink_speed_mbps_common = 90;
constexpr unsigned value_type_unsigned_int = 1;

struct pci_info {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];

  [[nodiscard]] bool operator==(const pci_info& other) const {
    return domain == other.domain && bus == other.bus && device == other.device;
  }
};

union field_number {
  double as_double;
  unsigned as_unsigned;
  unsigned long long as_unsigned_long_long;
};

struct field_value {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  unsigned type;
  int status;
  field_number value;
};

}  // namespace

struct gpu_links::library {
  int (*p2p_status)(nvml_device, nvml_device, int, int*) = nullptr;
  int (*pci)(nvml_device, pci_info*) = nullptr;
  int (*link_state)(nvml_device, unsigned, unsigned*) = nullptr;
  int (*link_remote)(nvml_device, unsigned, pci_info*) = nullptr;
  int (*link_remote_type)(nvml_device, unsigned, int*) = nullptr;
  int (*fields)(nvml_device, int, field_value*) = nullptr;
  int (*pcie_generation)(nvml_device, unsigned*) = nullptr;
  int (*pcie_lanes)(nvml_device, unsigned*) = nullptr;
  detail::nvml loaded;

  /// Loads the functions. False if the library or a function is missing.
  [[nodiscard]] bool load() {
    if (!loaded) return false;
    const auto look_up = [this]<class Result, class... Arguments>(const char* name, Result (*&function)(Arguments...)) {
      function = loaded.function<Result(Arguments...)>(name);
      return function != nullptr;
    };
    return look_up("nvmlDeviceGetP2PStatus", p2p_status) && look_up("nvmlDeviceGetPciInfo_v3", pci) &&
           look_up("nvmlDeviceGetNvLinkState", link_state) &&
           look_up("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote) &&
           look_up("nvmlDeviceGetNvLinkRemoteDeviceType", link_remote_type) &&
           look_up("nvmlDeviceGetFieldValues", fields) &&
           look_up("nvmlDeviceGetMaxPcieLinkGeneration", pcie_generation) &&
           look_up("nvmlDeviceGetMaxPcieLinkWidth", pcie_lanes);
  }

  /// The number of active links of `from` that lead to `to`, or to a switch.
  [[nodiscard]] unsigned count_links(nvml_device from, nvml_device to) const {
    pci_info address{};
    if (pci(to, &address) != success) return 0;
    unsigned count = 0;
    for (unsigned link = 0; link < most_links; ++link) {
      unsigned active = 0;
      if (link_state(from, link, &active) != success || active == 0) continue;
      int type = 0;
      if (link_remote_type(from, link, &type) == success && type == remote_is_switch) {
        ++count;
        continue;
      }
      pci_info remote{};
      if (link_remote(from, link, &remote) == success && remote == address) ++count;
    }
    return count;
  }

  [[nodiscard]] double nvlink(nvml_device from, nvml_device to) const {
    int status = -1;
    if (p2p_status(from, to, p2p_caps_index_nvlink, &status) != success || status != p2p_status_ok) return unmeasured;
    field_value speed{};
    speed.field = field_nvlink_speed_mbps_common;
    if (fields(from, 1, &speed) != success || speed.status != success || speed.type != value_type_unsigned_int)
      return unmeasured;
    const double gb_per_s = count_links(from, to) * static_cast<double>(speed.value.as_unsigned) / 1e3;
    return gb_per_s > 0 ? gb_per_s : unmeasured;
  }

  [[nodiscard]] double pcie(nvml_device gpu) const {
    unsigned generation = 0;
    unsigned lanes = 0;
    if (pcie_generation(gpu, &generation) != success || pcie_lanes(gpu, &lanes) != success) return unmeasured;
    return pcie_gb_per_s(generation, lanes);
  }
};

gpu_links::gpu_links() : nvml_(std::make_unique<library>()) {
  if (!nvml_->load()) nvml_.reset();
}

gpu_links::~gpu_links() = default;

link_peak gpu_links::between(const std::string& from, const std::string& to) const {
  if (!nvml_ || from == to) return {};
  const nvml_device source = nvml_->loaded.find(from);
  const nvml_device target = nvml_->loaded.find(to);
  if (source == nullptr || target == nullptr) return {};
  if (const double gb_per_s = nvml_->nvlink(source, target); !std::isnan(gb_per_s)) return {gb_per_s, "NVLink"};
  const double value = nvml_->pcie(source);
  const double other = nvml_->pcie(target);
  return std::isnan(value) || std::isnan(other) ? link_peak{} : link_peak{std::min(value, other), "PCIe"};
}

double pcie_gb_per_s(unsigned generation, unsigned lanes) {
  // Gigatransfers per second and lane. The coding is 8b/10b in generations 1 and 2, and 128b/130b in generations 3 to
  // 5. Later generations have no coding overhead.
  constexpr std::array gigatransfers{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
  if (generation == 0 || generation > std::size(gigatransfers) || lanes == 0) return unmeasured;
  const double coding = generation <= 2 ? 8.0 / 10 : generation <= 5 ? 128.0 / 130 : 1.0;
  return gigatransfers[generation - 1] * coding / 8 * lanes;
}

}  // namespace pgas::perf
