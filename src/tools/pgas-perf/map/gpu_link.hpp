/// @file
/// The bandwidth of the link between two GPUs, from NVIDIA's management library (NVML).
#pragma once

#include <memory>
#include <string>

#include "map/link_peaks.hpp"

namespace pgas::perf {

/// NVML, if this machine has it. It comes with the driver, is loaded when an object is made, and is never needed.
class gpu_links {
 public:
  gpu_links();
  ~gpu_links();
  gpu_links(const gpu_links&) = delete;
  gpu_links& operator=(const gpu_links&) = delete;

  /// One way, between two different GPUs of this machine: NVLink's active links that lead there, or to the switch that
  /// does, times their speed; else PCIe, the slower of the two, by lanes and generation. Unmeasured where NVML does not
  /// tell. @param from, to pe_info::device_uuid
  [[nodiscard]] link_peak between(const std::string& from, const std::string& to) const;

 private:
  struct library;
  std::unique_ptr<library> nvml_;  ///< null where there is none
};

/// GB/s of `lanes` of PCIe one way, after the coding of its generation; unmeasured for one that is not known.
[[nodiscard]] double pcie_gb_per_s(unsigned generation, unsigned lanes);

}  // namespace pgas::perf
