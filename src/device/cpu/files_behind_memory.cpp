#include "device/cpu/files_behind_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// A row of /proc/self/maps.
struct mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string rights;
  std::uint64_t offset = 0;
  dev_t device = 0;
  ino_t inode = 0;
};

[[noreturn]] void refuse(std::uintptr_t at, const std::string& why) {
  throw error(code::invalid_argument, fmt::format("what is mapped at {:#x} {}", at, why));
}

[[noreturn]] void no_proc(const char* file) {
  throw error(
      code::system,
      fmt::format("{} can't be read, and it names the memory file of an address: mount -t proc proc /proc", file));
}

std::optional<mapping> parse(const std::string& line) {
  std::istringstream fields(line);
  mapping found;
  unsigned major = 0;
  unsigned minor = 0;
  char separator = 0;
  fields >> std::hex >> found.begin >> separator >> found.end >> found.rights >> found.offset >> major >> separator >>
      minor >> std::dec >> found.inode;
  if (!fields) return std::nullopt;
  found.device = makedev(major, minor);
  return found;
}

/// The mappings that overlap [begin, end). Adjacent parts that Linux lists separately are joined.
std::vector<mapping> mappings_in(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<mapping> found;
  std::ifstream maps("/proc/self/maps");
  if (!maps) no_proc("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    const std::optional<mapping> row = parse(line);
    if (!row || row->end <= begin) continue;
    if (row->begin >= end) break;  // the rows are sorted
    mapping* const last = found.empty() ? nullptr : &found.back();
    if (last != nullptr && last->end == row->begin && last->rights == row->rights && last->device == row->device &&
        last->inode == row->inode && last->offset + (last->end - last->begin) == row->offset && row->inode != 0)
      last->end = row->end;
    else
      found.push_back(*row);
  }
  return found;
}

/// A new descriptor for the file of the mapping, made from a descriptor of this process that is open for reading and
/// writing. Empty if this process has no such descriptor. The new descriptor is checked, because another thread can
/// close the original at the same time. The file is not opened by its name, because the mode of the file can forbid an
/// open.
unique_fd find_descriptor(const mapping& map) {
  const auto is_it = [&map](const struct stat& about) {
    return S_ISREG(about.st_mode) && about.st_dev == map.device && about.st_ino == map.inode;
  };
  std::error_code none;
  const auto all = std::filesystem::directory_iterator("/proc/self/fd", none);
  if (none) no_proc("/proc/self/fd");
  for (auto entry = all; entry != std::filesystem::directory_iterator(); entry.increment(none)) {
    const char* const path = entry->path().c_str();
    struct stat about {};
    if (::stat(path, &about) != 0 || !is_it(about)) continue;
    unique_fd copy(::fcntl(std::atoi(entry->path().filename().c_str()), F_DUPFD_CLOEXEC, 0));
    if (copy && (::fcntl(copy.get(), F_GETFL) & O_ACCMODE) == O_RDWR && ::fstat(copy.get(), &about) == 0 &&
        is_it(about))
      return copy;
  }
  return {};
}

}  // namespace

std::vector<program_file> files_behind_memory(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t end = begin + bytes;
  std::vector<program_file> files;
  std::uintptr_t at = begin;
  for (const mapping& piece : mappings_in(begin, end)) {
    if (piece.begin > at) break;
    if (piece.rights.size() < 4 || piece.rights[3] != 's' || piece.inode == 0)
      refuse(
          piece.begin,
          "is private memory (malloc, or mmap without MAP_SHARED): only memory files can be shared, see memfd_create");
    if (piece.rights[0] != 'r' || piece.rights[1] != 'w') refuse(piece.begin, "may not be read and written");
    if (piece.begin != at)
      refuse(piece.begin, fmt::format("starts {} bytes before the given address", at - piece.begin));
    if (piece.end > end) refuse(piece.begin, fmt::format("is {} bytes larger than the given range", piece.end - end));
    program_file file{find_descriptor(piece), piece.end - piece.begin};
    if (!file.fd)
      refuse(piece.begin, "has no open descriptor in this process: register the memory before closing the descriptor");
    struct stat about {};
    if (::fstat(file.fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) refuse(piece.begin, "is not a memory file");
    if (piece.offset != 0 || static_cast<std::size_t>(about.st_size) != file.bytes)
      refuse(piece.begin, fmt::format("are {} bytes at offset {} of a file of {} bytes: only whole files can be shared",
                                      file.bytes, piece.offset, about.st_size));
    files.push_back(std::move(file));
    at = piece.end;
  }
  if (at != end) refuse(at, "is nothing");
  return files;
}

}  // namespace pgas::detail
