/// @file
/// The library's kernels, executed by a thread of the CPU.
#pragma once

#include <functional>
#include <string>

namespace fake_cuda {

/// Copies the arguments of a launch. The result executes the kernel, or is empty if the library has no such kernel.
[[nodiscard]] std::function<void()> kernel_of(const std::string& name, void* const* arguments);

}  // namespace fake_cuda
