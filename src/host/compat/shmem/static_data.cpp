#include "host/compat/shmem/static_data.hpp"

#include <fmt/format.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/resource_limits.hpp"
#include "pgas/registration.hpp"

namespace pgas::compat {

namespace {

constexpr std::size_t registration_unit = std::size_t{2} << 20;  // the granularity of register_symmetric()

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }
std::size_t round_down(std::size_t value, std::size_t unit) { return value / unit * unit; }

/// Whether the program or a shared library is linked to libpgas_shmem.
bool needs_shmem(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* const first = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    const char* strings = nullptr;
    for (const auto* entry = first; entry->d_tag != DT_NULL; ++entry)
      // the addresses of the vDSO are not relocated
      if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr >= object.dlpi_addr)
        strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (strings == nullptr) return false;
    for (const auto* entry = first; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED && std::string_view(strings + entry->d_un.d_val).starts_with("libpgas_shmem."))
        return true;
  }
  return false;
}

/// The writable pages of an object, [begin, end), and a number that depends on the layout of its sections.
struct pages {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uint64_t shape;
};

void collect_pages(const dl_phdr_info& object, std::vector<pages>& found) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  pages read_only{0, 0, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (const auto& header = object.dlpi_phdr[i]; header.p_type == PT_GNU_RELRO) {
      const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
      read_only = {round_down(begin, page), round_down(begin + header.p_memsz, page), 0};
    }
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    pages part{round_down(object.dlpi_addr + header.p_vaddr, page),
               round_up(object.dlpi_addr + header.p_vaddr + header.p_memsz, page),
               header.p_vaddr << 32 ^ header.p_filesz << 16 ^ header.p_memsz};
    if (part.begin < read_only.end && read_only.begin <= part.begin) part.begin = read_only.end;
    if (part.begin < part.end) found.push_back(part);
  }
}

/// Whether a page contains only zeros. A page of zeros need not be written to the file. Not sanitized, because the
/// function also reads the padding between variables.
__attribute__((no_sanitize("address", "thread"))) bool is_zero(const std::uint64_t* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (words[i] != 0) return false;
  return true;
}

[[noreturn]] void fail(const char* call) {
  throw error(code::system, fmt::format("{} failed: {}", call, std::strerror(errno)));
}

/// Copies pages into the file. Uses raw system calls, which sanitizers do not intercept.
void copy_pages(std::uintptr_t begin, std::size_t bytes, int file, std::size_t offset) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < bytes; at += page) {
    const auto* const words = reinterpret_cast<const std::uint64_t*>(begin + at);
    if (is_zero(words, page / sizeof *words)) continue;
    if (::syscall(SYS_pwrite64, file, words, page, static_cast<off_t>(offset + at)) != static_cast<long>(page))
      fail("pwrite");
  }
}

}  // namespace

void static_data::find_ranges() {
  std::vector<pages> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        if (needs_shmem(*object)) collect_pages(*object, *static_cast<std::vector<pages>*>(into));
        return 0;
      },
      &found);
  for (const pages& part : found) {
    ranges_.push_back({part.begin, part.end - part.begin, file_bytes_, part.shape});
    file_bytes_ += part.end - part.begin;
  }
  file_bytes_ = round_up(file_bytes_, registration_unit);
}

void static_data::replace_pages() {
  detail::unique_fd file(::memfd_create("pgas static data", MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  {
    const detail::no_file_limit_signal no_signal;
    if (::ftruncate(file.get(), static_cast<off_t>(file_bytes_)) != 0) {
      if (errno == EFBIG) throw detail::file_limit_reached(file_bytes_);
      fail("ftruncate");
    }
  }
  for (const range& area : ranges_) copy_pages(area.begin, area.bytes, file.get(), area.offset);
  for (const range& area : ranges_) {
    // MAP_FIXED replaces the pages of a range atomically, so no page is unmapped at any time.
    const long at = ::syscall(SYS_mmap, area.begin, area.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                              file.get(), static_cast<off_t>(area.offset));
    if (at == -1) fail("mmap");
  }
  file_ = std::move(file);
}

std::string static_data::program() {
  if (ranges_.empty()) find_ranges();
  std::string text;
  for (const range& area : ranges_) text += fmt::format("{:x}+{:x} ", area.shape, area.bytes);
  return text;
}

namespace {

/// The static data of this process, for the handlers of fork(). Null before the pages are replaced.
static_data* replaced = nullptr;
/// Set while this thread forks: the descriptor of a file with a copy of the pages.
thread_local int copied_pages = -1;

}  // namespace

void static_data::copy_for_child() noexcept {
  struct stat about {};
  if (::fstat(file_.get(), &about) != 0 || static_cast<std::size_t>(about.st_blocks) * 512 > largest_copy) return;
  detail::unique_fd copy(::memfd_create("pgas static data of a child", MFD_CLOEXEC));
  if (!copy || ::ftruncate(copy.get(), static_cast<off_t>(file_bytes_)) != 0) return;
  try {
    for (const range& area : ranges_) copy_pages(area.begin, area.bytes, copy.get(), area.offset);
  } catch (const error&) {
    return;  // the copy could not be made, so the child shares the pages
  }
  copied_pages = copy.release();
}

void static_data::replace_in_child() noexcept {
  for (const range& area : ranges_)
    static_cast<void>(::syscall(SYS_mmap, area.begin, area.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                                copied_pages, static_cast<off_t>(area.offset)));
}

void static_data::copy_at_fork() {
  if (std::exchange(replaced, this) != nullptr) return;
  const int failed = ::pthread_atfork([] { replaced->copy_for_child(); },
                                      [] {
                                        if (copied_pages >= 0) ::close(std::exchange(copied_pages, -1));
                                      },
                                      [] {
                                        if (copied_pages < 0) return;
                                        replaced->replace_in_child();
                                        ::close(std::exchange(copied_pages, -1));
                                      });
  if (failed != 0) throw error(code::system, fmt::format("pthread_atfork failed: {}", std::strerror(failed)));
}

void static_data::add(world& w) {
  // The registration needs a mapping of the whole file until the call returns.
  void* const whole = ::mmap(nullptr, file_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (whole == MAP_FAILED) fail("mmap");
  try {
    alias_ = static_cast<std::byte*>(register_symmetric(w, whole, file_bytes_));
  } catch (...) {
    ::munmap(whole, file_bytes_);
    throw;
  }
  ::munmap(whole, file_bytes_);
}

void static_data::join(world& w, bool same_program) {
  if (ranges_.empty()) find_ranges();
  alias_ = nullptr;
  if (w.heap() != heap_kind::host) {
    why_not_ =
        "the heap is in GPU memory, and static data is in host memory: allocate it with shmem_malloc, or use the host "
        "heap (PGAS_HEAP=host)";
    return;
  }
  if (!same_program) {
    why_not_ = "the PEs run different programs";
    return;
  }
  if (ranges_.empty()) return;  // the program has loaded this library at run time
  if (!file_) {
    replace_pages();
    copy_at_fork();
  }
  add(w);
}

void static_data::leave() noexcept {
  alias_ = nullptr;
  why_not_ = "the world was left";
}

bool static_data::contains(const void* pointer) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [address](const range& area) { return address - area.begin < area.bytes; });
}

const void* static_data::in_heap(std::uintptr_t address, const range& area) const {
  if (alias_ == nullptr)
    throw error(code::outside_heap,
                fmt::format("{:#x} is static data of the program, which is not symmetric here: {}", address, why_not_));
  return alias_ + area.offset + (address - area.begin);
}

}  // namespace pgas::compat
