// Host memory that is shared without a world: memory files of this library or of the program.
#include "device/sharing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "common/keyed_hash.hpp"
#include "common/system_error.hpp"
#include "device/cpu/files_behind_memory.hpp"
#include "device/cpu/host_segment.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr int seal_future_write = 0x0010;  // F_SEAL_FUTURE_WRITE of Linux 5.1, which older headers do not define

[[noreturn]] void fail(const char* call, int why) {
  throw error(why == ENOMEM || why == ENOSPC ? code::out_of_memory : code::system,
              fmt::format("sharing host memory: {}: {}{}", call, errno_text(why),
                          why == EMFILE || why == ENFILE ? "; raise the limit (ulimit -n)" : ""));
}

/// Owns a mapped range of addresses. The destructor unmaps the range.
class mapping {
 public:
  mapping() = default;
  mapping(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}
  mapping(mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapping() {
    if (bytes_ > 0) ::munmap(start_, bytes_);
  }
  [[nodiscard]] std::byte* start() const noexcept { return static_cast<std::byte*>(start_); }

 private:
  void* start_ = nullptr;
  std::size_t bytes_ = 0;
};

mapping map_file(int fd, std::size_t bytes, int rights) {
  void* const start = ::mmap(nullptr, bytes, rights, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) fail("mmap", errno);
  return {start, bytes};
}

bool forbids_writing(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & (seal_future_write | F_SEAL_WRITE)) != 0;
}

/// Removes write access from the mode of a file without a name. With write access in the mode, a process that has a
/// descriptor for reading could open the file for writing through /proc. Open descriptors are not affected.
void forbid_reopening(int fd, const void* data) {
  if (forbids_writing(fd)) return;
  constexpr mode_t writing = S_IWUSR | S_IWGRP | S_IWOTH;
  struct stat about {};
  if (::fstat(fd, &about) != 0) fail("fstat", errno);
  if (about.st_nlink == 0) {
    if ((about.st_mode & writing) != 0 && ::fchmod(fd, about.st_mode & 07777 & ~writing) != 0) fail("fchmod", errno);
  } else if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw error(code::invalid_argument,
                fmt::format("access::read_only of the memory at {}: other users may write its file, whose mode is "
                            "{:o}. Remove that permission (chmod go-w), or use shared_memory::make()",
                            data, about.st_mode & 07777));
  }
}

class host_memory final : public exportable_memory {
 public:
  host_memory(std::vector<program_file> files, mapping own, void* data, std::size_t bytes, access importers)
      : files_(std::move(files)), own_(std::move(own)), data_(data) {
    described_.way = sharing_way::memory_file;
    described_.read_only = importers == access::read_only ? 1 : 0;
    described_.bytes = bytes;
    described_.block = random_bits();
  }

  [[nodiscard]] void* data() const noexcept override { return data_; }
  [[nodiscard]] const sharing_description& description() const noexcept override { return described_; }
  [[nodiscard]] std::size_t pieces() const noexcept override { return files_.size(); }
  [[nodiscard]] shared_piece piece(std::size_t number) const override {
    if (described_.read_only != 0) return read_only_piece(number);
    return piece_by(number, unique_fd(::fcntl(files_[number].fd.get(), F_DUPFD_CLOEXEC, 0)), "fcntl(F_DUPFD_CLOEXEC)");
  }
  /// A descriptor for reading. Linux allows no writable mapping of the descriptor, and no change of a mapping to
  /// writable.
  [[nodiscard]] shared_piece read_only_piece(std::size_t number) const override {
    const std::string path = fmt::format("/proc/self/fd/{}", files_[number].fd.get());
    return piece_by(number, unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path.c_str());
  }
  /// The inode numbers identify the files while a process has the files open. The result is a hash with a random key,
  /// so that other processes do not learn these numbers.
  [[nodiscard]] std::optional<bits128> identity() const override {
    static const bits128 key = random_bits();
    std::vector<std::uint64_t> numbers{reinterpret_cast<std::uintptr_t>(data_), described_.bytes, described_.read_only};
    for (const program_file& file : files_) {
      struct stat about {};
      if (::fstat(file.fd.get(), &about) != 0) return std::nullopt;
      numbers.insert(numbers.end(), {about.st_dev, about.st_ino, file.bytes});
    }
    return keyed_hash(key, std::as_bytes(std::span(numbers)));
  }
  void allow_read_only() const override {
    for (const program_file& file : files_) forbid_reopening(file.fd.get(), data_);
  }

 private:
  [[nodiscard]] shared_piece piece_by(std::size_t number, unique_fd fd, const char* call) const {
    if (!fd) fail(call, errno);
    shared_piece result;
    result.bytes = files_[number].bytes;
    result.handle.kind = handle_kind::posix_fd;
    result.handle.fd = std::move(fd);
    return result;
  }

  std::vector<program_file> files_;
  mapping own_;  ///< empty for memory of the program
  void* data_;
  sharing_description described_;
};

class host_import final : public mapped_import {
 public:
  host_import(mapping all, std::size_t offset) : all_(std::move(all)), offset_(offset) {}
  [[nodiscard]] void* data() const noexcept override { return all_.start() + offset_; }

 private:
  mapping all_;
  std::size_t offset_;
};

[[noreturn]] void reject(const std::string& why) {
  throw error(code::handle_invalid, "opening host memory: the exporter sent " + why);
}

bool can_be_truncated(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals < 0 || (seals & F_SEAL_SHRINK) == 0;
}

/// Refuses a file whose size is wrong or can change. Without this check, an access could raise SIGBUS if the exporter
/// sends another file or changes the size later.
void inspect(int fd, const shared_piece& piece) {
  if (can_be_truncated(fd)) reject("memory that can be truncated while it is used: its file has no seal F_SEAL_SHRINK");
  struct stat about {};
  if (::fstat(fd, &about) != 0) reject(fmt::format("a descriptor that can't be inspected: {}", errno_text(errno)));
  if (!S_ISREG(about.st_mode)) reject("something that is not memory");
  if (static_cast<std::uint64_t>(about.st_size) < piece.bytes)
    reject(fmt::format("{} bytes and announced {}", about.st_size, piece.bytes));
}

/// Seals a file of the program against truncation. The program, and each process that opens a ticket, has a descriptor
/// with which it could truncate the file. *Errors* invalid_argument if the file accepts no seal.
void forbid_truncation(const program_file& file, const void* pointer) {
  const int fd = file.fd.get();
  if (can_be_truncated(fd) && ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    throw error(
        code::invalid_argument,
        fmt::format("shared_memory::share: the file of the memory at {} takes no seal against truncation (fcntl, "
                    "F_SEAL_SHRINK: {}), and a process that uses truncated memory is ended by SIGBUS: make the "
                    "file by memfd_create with MFD_ALLOW_SEALING, or use shared_memory::make()",
                    pointer, errno_text(errno)));
  struct stat about {};
  if (::fstat(fd, &about) != 0 || static_cast<std::size_t>(about.st_size) < file.bytes)
    throw error(
        code::invalid_argument,
        fmt::format("shared_memory::share: the file of the memory at {} was truncated during the call", pointer));
}

}  // namespace

std::unique_ptr<exportable_memory> make_host_memory(std::size_t bytes, access importers) {
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  if (rounded < bytes) throw error(code::out_of_memory, fmt::format("{} bytes exceed the memory of any host", bytes));
  program_file file{create_memory_file("pgas-shared", rounded), rounded};
  mapping own = map_file(file.fd.get(), rounded, PROT_READ | PROT_WRITE);
  // This process keeps its mapping. Linux gives no other process a writable mapping.
  const int read_only = importers == access::read_only ? seal_future_write : 0;
  if (::fcntl(file.fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | read_only) != 0) {
    if (read_only != 0 && errno == EINVAL)
      throw error(
          code::invalid_argument,
          "access::read_only: this kernel can't enforce it for host memory (Linux 5.1 can): share it read_write");
    fail("fcntl(F_ADD_SEALS)", errno);
  }
  std::vector<program_file> files;
  files.push_back(std::move(file));
  void* const data = own.start();
  return std::make_unique<host_memory>(std::move(files), std::move(own), data, bytes, importers);
}

std::unique_ptr<exportable_memory> adopt_host_memory(void* pointer, std::size_t bytes, access importers) {
  std::vector<program_file> files = files_behind_memory(pointer, bytes);
  for (const program_file& file : files) forbid_truncation(file, pointer);
  if (importers == access::read_only)
    for (const program_file& file : files) forbid_reopening(file.fd.get(), pointer);
  return std::make_unique<host_memory>(std::move(files), mapping(), pointer, bytes, importers);
}

std::unique_ptr<mapped_import> import_host_memory(const sharing_description& what, std::span<shared_piece> pieces) {
  std::uint64_t all = 0;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const shared_piece& piece : pieces) {
    if (!piece.handle.fd) reject("a handle without its descriptor");
    if (piece.bytes == 0 || piece.bytes % page != 0 || all + piece.bytes < all) reject("pieces that can't be mapped");
    all += piece.bytes;
  }
  if (what.way != sharing_way::memory_file || what.bytes == 0 || what.offset > all || what.bytes > all - what.offset)
    reject("a description that does not match its pieces");
  const int rights = what.read_only != 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const start = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) fail("mmap", errno);
  mapping whole(start, all);
  std::uint64_t at = 0;
  for (const shared_piece& piece : pieces) {
    inspect(piece.handle.fd.get(), piece);
    if (::mmap(whole.start() + at, piece.bytes, rights, MAP_SHARED | MAP_FIXED, piece.handle.fd.get(), 0) == MAP_FAILED)
      fail("mmap", errno);
    at += piece.bytes;
  }
  return std::make_unique<host_import>(std::move(whole), what.offset);
}

}  // namespace pgas::detail
