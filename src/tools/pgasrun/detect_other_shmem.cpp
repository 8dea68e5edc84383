// Detects programs that were built for another library. pgasrun would start the PEs of such a program as unrelated
// processes.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "src/tools/pgasrun/pe_process.hpp"

namespace pgas::boot {
namespace {

/// An ELF file. Reads beyond the end of the file, and reads of a damaged file, give empty results.
class elf_file {
 public:
  explicit elf_file(const std::string& path) : file_(path, std::ios::binary) {}

  /// The names of the shared libraries to which the file is linked.
  [[nodiscard]] std::vector<std::string> needed() {
    const auto head = records<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 || head[0].e_ident[EI_CLASS] != ELFCLASS64 ||
        head[0].e_phentsize != sizeof(Elf64_Phdr))
      return {};
    const auto parts = records<Elf64_Phdr>(head[0].e_phoff, head[0].e_phnum * sizeof(Elf64_Phdr));
    std::vector<std::uint64_t> names;
    std::uint64_t strings = 0;
    for (const Elf64_Phdr& part : parts) {
      if (part.p_type != PT_DYNAMIC) continue;
      for (const Elf64_Dyn& entry : records<Elf64_Dyn>(part.p_offset, part.p_filesz)) {
        if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
        if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      }
    }
    std::vector<std::string> found;
    for (const Elf64_Phdr& part : parts) {
      if (part.p_type != PT_LOAD || strings < part.p_vaddr || strings - part.p_vaddr >= part.p_filesz) continue;
      for (const std::uint64_t name : names) found.push_back(text(part.p_offset + (strings - part.p_vaddr) + name));
    }
    return found;
  }

 private:
  static constexpr std::uint64_t most_bytes = 1 << 20;

  template <class Record>
  [[nodiscard]] std::vector<Record> records(std::uint64_t offset, std::uint64_t bytes) {
    std::vector<Record> all(std::min(bytes, most_bytes) / sizeof(Record));
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(Record)));
    all.resize(static_cast<std::size_t>(file_.gcount()) / sizeof(Record));
    return all;
  }
  [[nodiscard]] std::string text(std::uint64_t offset) {
    constexpr std::uint64_t longest = 256;
    const auto bytes = records<char>(offset, longest);
    return {bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0')};
  }

  std::ifstream file_;
};

/// The names by which the dynamic linker finds other libraries, without versions. The name of NVSHMEM's library is also
/// a name of pgas's library, and only the version distinguishes the two names.
constexpr std::array others{"liboshmem.so", "libsma.so", "libshmem.so", "libosss-ucx.so", "libnvshmem_host.so"};
constexpr std::array own_libraries{"libpgas.so", "libpgas_shmem.so", "libnvshmem_host.so.0"};

template <class Names>
[[nodiscard]] bool is_one_of(const Names& names, const std::string& library) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return library.starts_with(name) && (library.size() == name.size() || library[name.size()] == '.');
  });
}

}  // namespace

std::optional<std::string> other_shmem_library(pid_t process) {
  const std::vector<std::string> libraries = elf_file{fmt::format("/proc/{}/exe", process)}.needed();
  const auto is_ours = [](const std::string& library) { return is_one_of(own_libraries, library); };
  if (std::any_of(libraries.begin(), libraries.end(), is_ours)) return std::nullopt;
  for (const std::string& library : libraries)
    if (is_one_of(others, library)) return library;
  return std::nullopt;
}

}  // namespace pgas::boot
