#include "device/cuda/kernels/kernel_images.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <set>

#include "pgas/error.hpp"

namespace pgas::detail::cuda {

std::vector<char> kernel_image::code() const {
  // The last four bytes of the gzip format are the size of the data, least significant byte first (RFC 1952).
  std::size_t size = 0;
  for (const std::byte each : {compressed.end()[-1], compressed.end()[-2], compressed.end()[-3], compressed.end()[-4]})
    size = size << 8 | std::to_integer<std::size_t>(each);
  std::vector<char> data(size + 1);
  constexpr int gzip_format = 16 + MAX_WBITS;
  z_stream stream{};
  // zlib does not change its input, but the type of the pointer is not const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(size);
  int result = inflateInit2(&stream, gzip_format);
  if (result == Z_OK) {
    result = inflate(&stream, Z_FINISH);
    static_cast<void>(inflateEnd(&stream));
  }
  if (result != Z_STREAM_END || stream.avail_out != 0)
    throw error(code::device_failed,
                fmt::format("the kernels of {} in the library can't be decompressed (zlib: {}): install the library "
                            "again",
                            source, result));
  return data;
}

const kernel_image* image_for(std::span<const kernel_image> images, std::string_view source,
                              unsigned capability) noexcept {
  const kernel_image* best = nullptr;
  for (const kernel_image& each : images) {
    if (each.source != source || each.architecture > capability) continue;
    if (!each.is_ptx && each.architecture / 10 != capability / 10) continue;
    const bool better = best == nullptr || (best->is_ptx && !each.is_ptx) ||
                        (best->is_ptx == each.is_ptx && each.architecture > best->architecture);
    if (better) best = &each;
  }
  return best;
}

std::string architectures_of(std::span<const kernel_image> images) {
  std::set<std::pair<bool, unsigned>> all;
  for (const kernel_image& each : images) all.emplace(each.is_ptx, each.architecture);
  std::string text;
  for (const auto& [is_ptx, architecture] : all)
    text += fmt::format("{}{}{}.{}", text.empty() ? "" : ", ", is_ptx ? "PTX for " : "", architecture / 10,
                        architecture % 10);
  return text;
}

}  // namespace pgas::detail::cuda
