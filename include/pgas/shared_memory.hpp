/// @file
/// Memory shared by handle between any two processes: one makes a ticket, a line of text, and another opens it. Neither
/// a world nor a launcher is needed. `pgas/timeline.hpp` orders what the two do with the memory.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/detail/compiler.hpp"

namespace pgas {

namespace detail {
class carried_timeline;
class exported_memory;
class imported_memory;
}  // namespace detail

class timeline;

/// Where memory is: on a GPU or on the host.
struct memory_place {
  int ordinal = -1;  ///< of the GPU, as CUDA counts in this process; -1: the host

  /// Host memory.
  [[nodiscard]] static constexpr memory_place host() noexcept { return {-1}; }
  /// Memory of the GPU with this number.
  [[nodiscard]] static constexpr memory_place gpu(int ordinal) noexcept { return {ordinal}; }
  /// Two places are the same if they are one device.
  friend constexpr bool operator==(memory_place, memory_place) = default;
};

/// What importers may do with memory.
enum class access : unsigned char { read_only, read_write };

/// Whether importers may get more than what was asked for: the block around an allocation of cudaMalloc, the pieces of
/// cuMemCreate that it is part of, or a memory pool. A pool's descriptor is one of the whole pool: whoever has it can
/// reach all that is allocated from the pool, now and later, even if there is only one allocation now. So memory of
/// pools always takes `allow`, and a pool of its own for what is to be shared discloses the least.
enum class whole_block : unsigned char { refuse, allow };

/// How memory is shared.
struct shared_memory_options {
  access importers = access::read_write;    ///< read_only is refused where the system does not enforce it
  whole_block block = whole_block::refuse;  ///< of shared_memory::of()
};

/// What a ticket allows.
struct ticket_options {
  std::chrono::duration<double> lifetime{0};  ///< from now on; 0: until it is revoked
  int opens = 0;                ///< how many processes may open it, one after another or at once; 0: any number
  std::optional<uid_t> user{};  ///< the user whose processes may open it; not set: the user of this process
  /// Says when the memory is ready: a timeline made by this process (`pgas/timeline.hpp`) in which it records once the
  /// memory is filled, and each time that it is filled anew. Whoever opens the ticket waits for the last record, and
  /// can do so again: opened_memory::wait(). One timeline may go with any number of tickets. Not for tickets of
  /// timelines and events.
  const timeline* ready = nullptr;
  /// read_only: importers by this ticket may only read, though others may write. Refused where the system does not
  /// enforce it, and for timelines and events.
  access importers = access::read_write;
  /// What the program has to say of the memory, such as shapes: opened_memory::description() is the same bytes. At most
  /// 1 MiB; they are in the ticket, readable by whoever has it.
  std::string description{};
};

/// A process that has memory of this one open.
struct opener {
  pid_t pid = 0;                                ///< as this process sees it, or as it calls itself where it is not seen
  uid_t uid = 0;                                ///< its user
  std::chrono::system_clock::time_point since;  ///< when it opened the memory first
};

/// The process that shares memory.
struct memory_exporter {
  std::string host;           ///< its host name
  pid_t pid = 0;              ///< as it calls itself
  uid_t uid = 0;              ///< its user
  std::uint64_t started = 0;  ///< clock ticks after boot: tells it from a later process with the same number
};

/// Memory of this process that others may open. Move-only; empty at first.
///
/// *Callers* any thread; one at a time for each object. In a child of fork() only the destructor may be called, which
/// does nothing there.
/// *Memory* an importer keeps what it has opened until it closes it, whether this object or this process is gone or
/// not. The destructor forgets all tickets, and frees memory of make() where nobody has it open; else the last importer
/// frees it, and the log says so. It does not wait for streams: memory of make() stays until all that GPUs, or streams
/// of the host heap, had been given by then has run.
class PGAS_API shared_memory {
 public:
  shared_memory() noexcept;
  /// Takes over the memory of `other`, which is empty then.
  shared_memory(shared_memory&& other) noexcept;
  /// The same, after what the destructor does.
  shared_memory& operator=(shared_memory&& other) noexcept;
  ~shared_memory();

  /// New memory, zeroed on the host, in pieces of its own: nothing else lies in them.
  /// @param place the GPU, or the host
  /// @param bytes size() returns it; data() has room for the next multiple of 2 MiB
  /// @param options `block` is of no meaning here: nothing else lies in the pieces
  /// *Errors* invalid_argument for 0 bytes; out_of_memory, device_unavailable, device_failed.
  [[nodiscard]] static shared_memory make(memory_place place, std::size_t bytes,
                                          const shared_memory_options& options = {});

  /// Memory that exists: of cuMemCreate (one mapped piece or several in a row), of a pool with descriptors
  /// (cudaMallocFromPoolAsync), of cudaMalloc; on the host shared mappings of memory files (memfd_create with
  /// MFD_ALLOW_SEALING), each mapped whole. The files get the seal F_SEAL_SHRINK: nobody can truncate them any more.
  /// *Memory* must not be freed before this object, except where an importer is to keep it (cuMemCreate, memfd).
  /// *Errors* invalid_argument where it is private, managed or pinned host memory or was itself imported, where a file
  /// takes no seal, where importers would get more than [pointer, pointer + bytes), with the number of bytes and the
  /// way out, and where read_only can't be enforced.
  [[nodiscard]] static shared_memory of(void* pointer, std::size_t bytes, const shared_memory_options& options = {});

  /// The memory in this process.
  [[nodiscard]] void* data() const noexcept;
  /// In bytes.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Whether there is memory.
  [[nodiscard]] explicit operator bool() const noexcept { return memory_ != nullptr; }

  /// A new ticket: printable text of at most 1024 characters without blanks, and four for each three bytes of a
  /// description, which a file, a pipe, an HTTP body or a variable can carry. Whoever has it, on this host and as the
  /// user that it is for, can open the memory. *Errors* invalid_argument, also where `ready` was opened here and not
  /// made; system where no socket or thread can be made, config_value where PGAS_SOCKET_DIR is to blame.
  [[nodiscard]] std::string ticket(const ticket_options& options = {});
  /// Makes all tickets made so far invalid. Processes that have the memory open keep it.
  void revoke();
  /// The processes that have the memory open now. One that died is off the list within a second.
  [[nodiscard]] std::vector<opener> opened_by() const;

 private:
  std::unique_ptr<detail::exported_memory> memory_;
};

/// How a ticket is opened.
struct open_options {
  /// How long the exporter may take to answer, and to get the memory ready where the ticket carries a timeline.
  std::chrono::milliseconds timeout{10'000};
  /// The device on which the memory is to be used. Not set: where it lies. A GPU that reaches the memory's own GPU
  /// works, too.
  std::optional<memory_place> place = std::nullopt;
  /// Whether opened_memory::open() waits until the memory is ready. Else opened_memory::wait() does, before it is used.
  bool wait_until_ready = true;
};

/// Memory of another process, or of this one, opened by a ticket. Move-only; empty at first.
///
/// *Callers* any thread; one at a time for each object. In a child of fork() only the destructor may be called, which
/// does nothing there.
/// *Memory* a process maps the same memory once, however often it opens it; the last object to be destroyed unmaps it,
/// when all that GPUs, or streams of the host heap, had been given by then has run. The destructor does not wait for
/// that. The memory stays readable and writable when the exporter has freed it or has died.
class PGAS_API opened_memory {
 public:
  opened_memory() noexcept;
  /// Takes over the memory of `other`, which is empty then.
  opened_memory(opened_memory&& other) noexcept;
  /// The same, after what the destructor does.
  opened_memory& operator=(opened_memory&& other) noexcept;
  ~opened_memory();

  /// Opens a ticket of shared_memory::ticket(). A ticket that this process has opened before, and whose memory it still
  /// has, is not counted again; it must not have expired or been revoked.
  /// A ticket that carries a timeline (ticket_options::ready) is opened when the memory is ready, each time again: the
  /// host waits as wait_host() does, unless open_options say otherwise.
  /// *Errors* handle_invalid for text that is no ticket, or is damaged; authentication where it has expired, was
  /// revoked, was opened as often as it allows, is for another user, or its timeline was destroyed; peer_lost where the
  /// exporter has ended; wait_timeout where it does not answer, or has not got the memory ready, with its number;
  /// peer_unreachable where its memory can't be used here, with the ways that were tried; system, out_of_memory.
  [[nodiscard]] static opened_memory open(std::string_view ticket, const open_options& options = {});

  /// The memory in this process.
  [[nodiscard]] void* data() const noexcept;
  /// In bytes, as the exporter's shared_memory::size().
  [[nodiscard]] std::size_t size() const noexcept;
  /// Whether there is memory.
  [[nodiscard]] explicit operator bool() const noexcept { return memory_ != nullptr; }
  /// What this process may do with it.
  [[nodiscard]] pgas::access access() const noexcept;
  /// Where it is mapped to be used: the number of the GPU is this process's, whatever the exporter's is.
  [[nodiscard]] memory_place place() const noexcept;
  /// ticket_options::description of the ticket that this object was opened by: as the exporter has written it.
  [[nodiscard]] const std::string& description() const noexcept { return description_; }
  /// Whose memory it is.
  [[nodiscard]] const memory_exporter& exporter() const noexcept;
  /// Whether the exporter still runs. Takes a system call or two; false within a second after its end. Always true for
  /// memory of another host, opened by a fabric handle.
  [[nodiscard]] bool alive() const noexcept;
  /// *Errors* peer_lost, naming host and process, unless alive(), and where a wait() of a GPU's stream has ended
  /// without what it waited for.
  void check() const;

  /// Whether the ticket carries a timeline, so that wait() and wait_host() can be called.
  [[nodiscard]] bool has_timeline() const noexcept { return ready_ != nullptr; }
  /// Holds the stream until all that the exporter has recorded by now has been reached, and at least one record. What
  /// is enqueued later sees the memory as it was then, or newer.
  /// @param stream a `cudaStream_t` of the GPU that the memory is used on; for memory of the host as timeline::wait()
  /// *Errors* invalid_argument without a timeline; as timeline::wait(). A stream of a GPU goes on where the exporter
  /// ends: check() tells.
  void wait(void* stream) const;
  /// The same for the calling thread. *Errors* invalid_argument without a timeline; wait_timeout, and peer_lost within
  /// a second, both naming host and process.
  void wait_host(std::chrono::milliseconds timeout = std::chrono::milliseconds::max()) const;

 private:
  std::shared_ptr<detail::imported_memory> memory_;
  std::shared_ptr<detail::carried_timeline> ready_;  // of the ticket that this object was opened by
  std::string description_;                          // of the same
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
