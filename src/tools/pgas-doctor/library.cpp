#include "tools/pgas-doctor/library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/keyed_hash.hpp"

namespace pgas::doctor {

namespace {

/// The text before the version in the library (src/host/connect/peer_descriptor.cpp).
constexpr std::string_view mark = "@(#)pgas ";

/// The version that a file contains. Empty if the file contains no version. Reads the file in pieces, because a file
/// with debug symbols can be large.
std::string version_in(const std::string& path, std::string& contents_hash) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  constexpr std::size_t longest = 64;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string version;
  detail::bits128 key{};
  while (file) {
    const std::size_t kept = std::min(text.size(), longest);
    text.erase(0, text.size() - kept);
    text.resize(kept + piece);
    file.read(text.data() + kept, static_cast<std::streamsize>(piece));
    text.resize(kept + static_cast<std::size_t>(file.gcount()));
    key = detail::keyed_hash(key, std::as_bytes(std::span(text.data() + kept, text.size() - kept)));
    if (!version.empty()) continue;
    const std::size_t at = text.find(mark);
    if (at == std::string::npos || text.size() - at < longest / 2) continue;
    const std::size_t begin = at + mark.size();
    version = text.substr(begin, std::min(text.find('\0', begin), begin + longest) - begin);
  }
  for (const std::byte each : key) contents_hash += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return version;
}

}  // namespace

loaded_library find_library() {
  loaded_library found;
  void* const handle = ::dlopen(DOCTOR_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    found.failure = why != nullptr ? why : "dlopen failed";
    return found;
  }
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) {
    std::error_code none;
    const std::filesystem::path real = std::filesystem::canonical(map->l_name, none);
    found.path = none ? map->l_name : real.string();
    found.version = version_in(found.path, found.build);
  }
  ::dlclose(handle);
  return found;
}

row check_library(const loaded_library& found) {
  if (found.path.empty())
    return {"library", verdict::unknown, found.failure, "programs without a run path don't find " DOCTOR_LIBRARY,
            "LD_LIBRARY_PATH=/the/prefix/lib, or a run path in the program"};
  const std::string text =
      fmt::format("{} {}", found.path, found.version.empty() ? "of another version" : found.version);
  if (found.version == DOCTOR_VERSION) return {"library", verdict::ok, text};
  return {"library", verdict::unknown, text + ", and this doctor is of " DOCTOR_VERSION,
          "pgas-doctor does not test the library that programs load",
          "the pgas-doctor that came with that library, or another LD_LIBRARY_PATH"};
}

}  // namespace pgas::doctor
