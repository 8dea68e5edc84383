/// @file
/// The machine code of the library's kernels. The build compiles each source of kernels for each architecture, and puts
/// the compressed code into the library (cmake/PgasKernels.cmake).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::detail::cuda {

/// The code of one source of kernels for one architecture.
struct kernel_image {
  std::string_view source;                ///< for example "operation_kernels"
  unsigned architecture = 0;              ///< the compute capability times ten, for example 90
  bool is_ptx = false;                    ///< whether the code is PTX, which the driver translates
  std::span<const std::byte> compressed;  ///< the code, in the format of gzip

  /// The code, followed by a null byte, because PTX must end with a null byte.
  [[nodiscard]] std::vector<char> code() const;
};

/// All images of this library.
[[nodiscard]] std::span<const kernel_image> kernel_images() noexcept;

/// The version of CUDA that compiled the kernels, for example 12090.
[[nodiscard]] int kernel_compiler_version() noexcept;

/// The image of a source for a GPU. This is the machine code of the newest architecture that has the GPU's major number
/// and is not newer than the GPU. If there is no such machine code, the image is the newest PTX that is not newer than
/// the GPU. Null if there is no such PTX either.
/// @param capability the GPU's compute capability times ten
[[nodiscard]] const kernel_image* image_for(std::span<const kernel_image> images, std::string_view source,
                                            unsigned capability) noexcept;

/// The architectures of the images, for messages: "8.0, 9.0, PTX for 9.0".
[[nodiscard]] std::string architectures_of(std::span<const kernel_image> images);

}  // namespace pgas::detail::cuda
