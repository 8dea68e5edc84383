/// @file
/// The properties of a machine's GPUs before a program uses them. Tools use them to report whether and how fast a
/// program can run. No part of the library depends on this file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pgas::detail {

/// The access of a GPU to another GPU.
struct gpu_pair {
  int to = 0;                   ///< the number of the other GPU
  bool access = false;          ///< whether loads and stores can access the other GPU's memory
  bool native_atomics = false;  ///< whether native atomic operations can access the other GPU's memory
};

struct gpu_facts {
  std::string name;
  std::string uuid;  ///< "GPU-0123..."
  std::string pci;   ///< "0000:19:00.0"
  std::size_t memory_bytes = 0;
  bool prohibited = false;          ///< compute mode prohibited: no process may use the GPU
  bool exclusive = false;           ///< compute mode exclusive: only one process at a time may use the GPU
  bool posix_handles = false;       ///< memory can be exported as a descriptor
  bool fabric_handles = false;      ///< memory can be exported as a fabric handle, according to the driver
  bool rdma = false;                ///< network devices can access the GPU's memory
  std::vector<gpu_pair> peers;      ///< the other GPUs
  std::optional<bool> persistent;   ///< persistence mode; empty without NVML
  std::optional<unsigned> clock;    ///< the current clock of the multiprocessors in MHz
  std::optional<unsigned> highest;  ///< MHz
  /// The reason why the clock is reduced: "power", "heat"; empty if it is not reduced.
  std::string slowed;
};

struct gpu_survey {
  int driver = 0;               ///< the CUDA version of the driver, for example 13000
  int kernels = 0;              ///< the CUDA version that compiled the library's kernels
  bool fabric_channel = false;  ///< an IMEX channel device exists
  bool mps = false;             ///< whether kernels of several processes run at the same time
  std::vector<gpu_facts> gpus;  ///< GPUs by number
};

/// *Errors* device_unavailable with the reason: built without CUDA, no driver, driver too old, no GPU.
[[nodiscard]] gpu_survey survey_gpus();

}  // namespace pgas::detail
