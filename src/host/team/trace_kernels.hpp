/// @file
/// What kernels have recorded, as tracks of the time line: those that were compiled with PGAS_TRACE, as far as there
/// was room.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/trace/document.hpp"
#include "pgas/detail/trace_area.hpp"

namespace pgas::detail {

/// Their operations. Times are those of the device's clock, and names those of the operations, as in failure records
/// and in what pgas-why says.
struct kernel_tracks {
  std::vector<trace::track> tracks;  ///< one for each thread of a block that recorded: leaders of groups
  std::uint64_t lost = 0;
};

/// *Callers* one, once no kernel runs. @param direct whether a PE is reached by load and store
[[nodiscard]] kernel_tracks tracks_of(const trace_area& area, const std::function<bool(int pe)>& direct);

}  // namespace pgas::detail
