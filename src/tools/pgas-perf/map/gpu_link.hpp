/// @file
/// The bandwidth of the link between two GPUs, from NVIDIA's management library (NVML).
#pragma once

#include <memory>
#include <string>

#include "map/link_peaks.hpp"

namespace pgas::perf {

/// NVML, if this machine has it. NVML is a part of the driver. The constructor loads it if possible.
class gpu_links {
 public:
  gpu_links();
  ~gpu_links();
  gpu_links(const gpu_links&) = delete;
  gpu_links& operator=(const gpu_links&) = delete;

  /// The bandwidth in one direction between two different GPUs of this machine. With NVLink, the bandwidth is the
  /// number of active links to the other GPU, or to a switch, times the speed of a link. Without NVLink, the bandwidth
  /// is the PCIe bandwidth of the slower GPU, computed from the number and the generation of the lanes. Unmeasured if
  /// NVML does not report these values.
  /// @param from, to pe_info::device_uuid
  [[nodiscard]] link_peak between(const std::string& from, const std::string& to) const;

 private:
  struct library;
  std::unique_ptr<library> nvml_;  ///< null if the machine has no NVML
};

/// GB/s of `lanes` lanes of PCIe in one direction, without the overhead of the coding. Unmeasured for an unknown
/// generation.
[[nodiscard]] double pcie_gb_per_s(unsigned generation, unsigned lanes);

}  // namespace pgas::perf
