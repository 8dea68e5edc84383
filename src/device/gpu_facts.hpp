/// @file
/// The properties of a machine's GPUs before a program uses them: for tools that report whether it can, and how
/// fast. Nothing in the library depends on it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pgas::detail {

/// One GPU seen from another.
struct gpu_pair {
  int to = 0;                   ///< its number
  bool access = false;          ///< loads and stores reach it
  bool native_atomics = false;  ///< so do atomics
};

struct gpu_facts {
  std::string name;
  std::string uuid;  ///< "GPU-0123..."
  std::string pci;   ///< "0000:19:00.0"
  std::size_t memory_bytes = 0;
  bool prohibited = false;          ///< compute mode: no process may use it
  bool exclusive = false;           ///< compute mode: one process at a time
  bool posix_handles = false;       ///< memory can be exported as a descriptor
  bool fabric_handles = false;      ///< and as a fabric handle, as far as the driver says
  bool rdma = false;                ///< network devices can access its memory
  std::vector<gpu_pair> peers;      ///< the other GPUs
  std::optional<bool> persistent;   ///< persistence mode; none where NVML is not there
  std::optional<unsigned> clock;    ///< MHz, of the multiprocessors, now
  std::optional<unsigned> highest;  ///< MHz
  std::string slowed;               ///< why the clock is held down: "power", "heat"; empty where it is not
};

struct gpu_survey {
  int driver = 0;               ///< CUDA version of the driver, 13000
  int runtime = 0;              ///< that this library was built with
  bool fabric_channel = false;  ///< a device of an IMEX channel is there
  bool mps = false;             ///< kernels of several processes run side by side
  std::vector<gpu_facts> gpus;  ///< by number
};

/// *Errors* device_unavailable with the reason: built without CUDA, no driver, too old a driver, no GPU.
[[nodiscard]] gpu_survey survey_gpus();

}  // namespace pgas::detail
