/// @file
/// Which CPUs are near a PCI device, and keeping what is made within a scope near them: threads, and memory that they
/// are the first to touch.
#pragma once

#include <sched.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pgas::detail {

struct locality {
  int node = -1;          ///< of NUMA; -1: unknown, or there is only one
  std::vector<int> cpus;  ///< of `allowed`, those that are near; none where that is unknown, or all or none of them are
};

/// @param pci "0000:19:00.0"; empty: no device @param devices where the kernel lists them
[[nodiscard]] locality locality_of(const std::string& pci, const std::vector<int>& allowed,
                                   const std::filesystem::path& devices = "/sys/bus/pci/devices");

/// The CPUs that the calling thread may use. None where the kernel does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Keeps the calling thread, and those that it starts, on these CPUs; the thread itself for as long as this lives. Does
/// nothing for none.
class kept_on {
 public:
  explicit kept_on(const std::vector<int>& cpus) noexcept;
  ~kept_on();
  kept_on(const kept_on&) = delete;
  kept_on& operator=(const kept_on&) = delete;

 private:
  cpu_set_t before_;
  bool moved_ = false;
};

}  // namespace pgas::detail
