/// @file
/// Memory that any two processes share by handle: the exporter makes a ticket, which is a line of text, and the
/// importer opens it. The two processes need neither a world nor a launcher. `pgas/timeline.hpp` orders the accesses of
/// the two processes.
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
#include "pgas/detail/struct_members.hpp"

namespace pgas {

namespace detail {
class carried_timeline;
class exported_memory;
class imported_memory;
}  // namespace detail

class timeline;

/// @brief The place of memory: a GPU or the host.
struct memory_place {
  int ordinal = -1;  ///< CUDA's number of the GPU in this process; -1: the host

  /// @brief Host memory.
  [[nodiscard]] static constexpr memory_place host() noexcept { return {-1}; }
  /// @brief Memory of the GPU with this number.
  [[nodiscard]] static constexpr memory_place gpu(int ordinal) noexcept { return {ordinal}; }
  /// @brief Two places are equal if they are the same device.
  friend constexpr bool operator==(memory_place, memory_place) = default;
};

/// @brief The access of importers to memory.
enum class access : unsigned char { read_only, read_write };

/// @brief Whether importers may access more than the requested range: the block around an allocation of cudaMalloc, the
/// cuMemCreate allocations that contain the range, or a memory pool.
///
/// The descriptor of a pool is for the whole pool: a process with the descriptor can access all present and later
/// allocations of the pool. Memory of pools therefore always requires `allow`; a separate pool for shared memory
/// exposes the least memory.
enum class whole_block : unsigned char { refuse, allow };

/// @brief The options of shared memory.
struct shared_memory_options {
  access importers = access::read_write;    ///< read_only is an error if the system cannot enforce it
  whole_block block = whole_block::refuse;  ///< for shared_memory::share()
};

/// @brief The options of a ticket: who may open it, how often and how long, and what it carries.
struct ticket_options {
  std::chrono::duration<double> lifetime{0};  ///< time from the call; 0: the ticket is valid until it is revoked
  int opens = 0;                              ///< total number of processes that may open the ticket; 0: any number
  std::optional<uid_t> user{};  ///< the user whose processes may open the ticket; not set: the user of this process
  /// @brief A timeline of this process (`pgas/timeline.hpp`) that tells importers when the memory is ready.
  ///
  /// The exporter records in the timeline each time it has filled the memory. An importer waits for the last record
  /// when it opens the ticket, and again by opened_memory::wait(). Any number of tickets may carry the same timeline. A
  /// ticket of a timeline or an event cannot carry a timeline.
  const timeline* ready = nullptr;
  /// @brief read_only: importers of this ticket may only read; importers of other tickets may write.
  ///
  /// read_only is an error if the system cannot enforce read-only access, and for tickets of timelines and events.
  access importers = access::read_write;
  /// @brief The program's description of the memory, such as shapes. opened_memory::description() returns the same
  /// bytes.
  ///
  /// At most 1 MiB. The ticket contains the description in readable form.
  std::string description{};
};

/// @brief A process that has opened memory of this process and has not closed it.
struct opener {
  /// @brief The process id of the opener: in this process's PID namespace if visible there, otherwise in the opener's
  /// own.
  pid_t pid = 0;
  uid_t uid = 0;                                ///< its user
  std::chrono::system_clock::time_point since;  ///< time when the process first opened the memory
};

/// @brief The process that shares memory.
struct memory_exporter {
  std::string host;           ///< its host name
  pid_t pid = 0;              ///< its process id, in its own PID namespace
  uid_t uid = 0;              ///< its user
  std::uint64_t started = 0;  ///< clock ticks after boot; different for a later process with the same process id
};

namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<shared_memory_options>
    : member_list<&shared_memory_options::importers, &shared_memory_options::block> {
  static constexpr const char* name = "shared_memory_options";
};

template <>
struct [[gnu::visibility("hidden")]] members_of<ticket_options>
    : member_list<&ticket_options::lifetime, &ticket_options::opens, &ticket_options::user, &ticket_options::ready,
                  &ticket_options::importers, &ticket_options::description> {
  static constexpr const char* name = "ticket_options";
};

template <>
struct [[gnu::visibility("hidden")]] members_of<opener> : member_list<&opener::pid, &opener::uid, &opener::since> {
  static constexpr const char* name = "opener";
};
}  // namespace detail

/// @brief Memory of this process that other processes may open.
///
/// Move-only; initially empty.
///
/// *Callers* any thread; one thread at a time for each object. A child of fork() may only call the destructor, which
/// does nothing there.
/// *Memory* an importer keeps the memory until the importer closes it, even after the end of this object or of this
/// process. The destructor invalidates all tickets. The destructor frees memory of make() if no importer has the memory
/// open; otherwise the last importer frees the memory, and the log says so. The destructor does not wait for streams:
/// memory of make() is freed after all work that was enqueued before the destructor, on GPUs or on streams of the host
/// heap.
class PGAS_API shared_memory {
 public:
  shared_memory() noexcept;
  /// @brief Moves the memory.
  ///
  /// `other` is empty afterwards.
  shared_memory(shared_memory&& other) noexcept;
  /// @brief Destroys the current object as the destructor does, then moves the other object.
  shared_memory& operator=(shared_memory&& other) noexcept;
  ~shared_memory();

  /// @brief Allocates memory in separate blocks that contain nothing else.
  ///
  /// Host memory is zero.
  ///
  /// @param place the GPU, or the host
  /// @param bytes the result of size(); data() has room for the next multiple of 2 MiB
  /// @param options `block` has no effect
  /// @throws error invalid_argument for 0 bytes; out_of_memory, device_unavailable, device_failed. This function and
  /// all other functions that take options also throw version_mismatch if `options` sets a field that the loaded
  /// library does not have.
  [[nodiscard, gnu::visibility("hidden")]] static shared_memory make(memory_place place, std::size_t bytes,
                                                                     const shared_memory_options& options = {}) {
    return make_new(place, bytes, detail::give(options));
  }

  /// @brief Shares existing memory. On a GPU, the memory may come from cuMemCreate (one mapped piece or several
  /// adjacent pieces), from cudaMalloc, or from a pool with descriptors (cudaMallocFromPoolAsync). On the host, the
  /// memory is a shared mapping of whole memory files (memfd_create with MFD_ALLOW_SEALING).
  ///
  /// The call adds the seal F_SEAL_SHRINK, so no process can truncate the files any more.
  ///
  /// *Memory* the program must not free the memory before this object. Only memory of cuMemCreate and memory files may
  /// be freed earlier: importers keep the memory.
  ///
  /// @throws error invalid_argument for private, managed, pinned or imported memory, for files that cannot be sealed,
  /// if importers would reach more than [pointer, pointer + bytes) (with the number of bytes and the remedy), and if
  /// read_only cannot be enforced.
  [[nodiscard, gnu::visibility("hidden")]] static shared_memory share(void* pointer, std::size_t bytes,
                                                                      const shared_memory_options& options = {}) {
    return share_existing(pointer, bytes, detail::give(options));
  }

  /// @brief The memory in this process.
  [[nodiscard]] void* data() const noexcept;
  /// @brief The size in bytes.
  [[nodiscard]] std::size_t size() const noexcept;
  /// @brief Whether there is memory.
  [[nodiscard]] explicit operator bool() const noexcept { return memory_ != nullptr; }

  /// @brief Makes a ticket: printable text without blanks.
  ///
  /// A file, a pipe, an HTTP body or a variable can carry the ticket. The text has at most 1024 characters, and four
  /// more characters for every three bytes of a description. Every process of the ticket's user on this host can open
  /// the memory by means of the ticket.
  ///
  /// @throws error invalid_argument, also if this process opened `ready` instead of making it; system if no socket or
  /// thread can be created; config_value if the cause is PGAS_SOCKET_DIR.
  [[nodiscard, gnu::visibility("hidden")]] std::string ticket(const ticket_options& options = {}) {
    return make_ticket(detail::give(options));
  }
  /// @brief Invalidates all tickets made so far.
  ///
  /// Processes that have the memory open keep the memory.
  void revoke();
  /// @brief The processes that have the memory open now.
  ///
  /// A process that has died is removed from the list within a second.
  [[nodiscard, gnu::visibility("hidden")]] std::vector<opener> opened_by() const {
    std::vector<opener> found;
    list_openers(detail::want(found));
    return found;
  }

 private:
  // The library's part of the inline functions above.
  [[nodiscard]] static shared_memory make_new(memory_place place, std::size_t bytes,
                                              const detail::given<shared_memory_options>& options);
  [[nodiscard]] static shared_memory share_existing(void* pointer, std::size_t bytes,
                                                    const detail::given<shared_memory_options>& options);
  [[nodiscard]] std::string make_ticket(const detail::given<ticket_options>& options);
  void list_openers(const detail::wanted_list<opener>& found) const;

  std::unique_ptr<detail::exported_memory> memory_;
};

/// @brief The options of opening a ticket.
struct open_options {
  /// @brief The time limit for the exporter's answer, and for the memory to become ready if the ticket carries a
  /// timeline.
  std::chrono::milliseconds timeout{10'000};
  /// @brief The device that will access the memory.
  ///
  /// The default is the device that contains the memory. Any GPU that can access the memory's GPU is allowed.
  std::optional<memory_place> place = std::nullopt;
  /// @brief Whether opened_memory::open() waits until the memory is ready.
  ///
  /// If false, the program must call opened_memory::wait() before it uses the memory.
  bool wait_until_ready = true;
};

namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<open_options>
    : member_list<&open_options::timeout, &open_options::place, &open_options::wait_until_ready> {
  static constexpr const char* name = "open_options";
};
}  // namespace detail

/// @brief Memory of another process, or of this process, opened by a ticket.
///
/// Move-only; initially empty.
///
/// *Callers* any thread; one thread at a time for each object. A child of fork() may only call the destructor, which
/// does nothing there.
/// *Memory* a process maps the same memory only once, even if it opens the memory several times. The destructor of the
/// last object unmaps the memory after all work that was enqueued before the destructor, on GPUs or on streams of the
/// host heap. The destructor does not wait for enqueued work. The memory stays readable and writable after the exporter
/// has freed it or has died.
class PGAS_API opened_memory {
 public:
  opened_memory() noexcept;
  /// @brief Moves the memory.
  ///
  /// `other` is empty afterwards.
  opened_memory(opened_memory&& other) noexcept;
  /// @brief Destroys the current object as the destructor does, then moves the other object.
  opened_memory& operator=(opened_memory&& other) noexcept;
  ~opened_memory();

  /// @brief Opens a ticket of shared_memory::ticket().
  ///
  /// If this process has opened the ticket before and has not closed the memory, the call does not count for
  /// ticket_options::opens. The ticket must be neither expired nor revoked. If the ticket carries a timeline
  /// (ticket_options::ready), each call returns when the memory is ready: the host waits as in wait_host(), unless
  /// open_options disable this wait.
  ///
  /// @throws error handle_invalid if the text is not a ticket or is damaged; authentication if the ticket has expired,
  /// was revoked, was opened as often as the ticket allows, or is for another user; authentication also if the timeline
  /// of the ticket was destroyed; peer_lost if the exporter has ended; wait_timeout if the exporter does not answer, or
  /// if the memory does not become ready in time (the message contains the exporter's process id); peer_unreachable if
  /// this process cannot use the memory (the message lists all attempts); system, out_of_memory.
  [[nodiscard, gnu::visibility("hidden")]] static opened_memory open(std::string_view ticket,
                                                                     const open_options& options = {}) {
    return open_ticket(ticket, detail::give(options));
  }

  /// @brief The memory in this process.
  [[nodiscard]] void* data() const noexcept;
  /// @brief The size in bytes, equal to the exporter's shared_memory::size().
  [[nodiscard]] std::size_t size() const noexcept;
  /// @brief Whether there is memory.
  [[nodiscard]] explicit operator bool() const noexcept { return memory_ != nullptr; }
  /// @brief The access of this process.
  [[nodiscard]] pgas::access access() const noexcept;
  /// @brief The device that the memory is mapped for.
  ///
  /// The number of the GPU is the number in this process.
  [[nodiscard]] memory_place place() const noexcept;
  /// @brief ticket_options::description of the ticket, as the exporter has written it.
  [[nodiscard]] const std::string& description() const noexcept { return description_; }
  /// @brief The process that exports the memory.
  [[nodiscard]] const memory_exporter& exporter() const noexcept;
  /// @brief Whether the exporter still runs.
  ///
  /// The call makes one or two system calls. The result is false within a second after the end of the exporter. The
  /// result is always true for memory of another host, opened by a fabric handle.
  [[nodiscard]] bool alive() const noexcept;
  /// @brief Throws if the exporter has ended.
  ///
  /// @throws error peer_lost, naming host and process, if alive() is false, or if a wait() on a stream of a GPU has
  /// ended although the exporter has not made the record for which the stream waited.
  void check() const;

  /// @brief Whether the ticket carries a timeline, so that wait() and wait_host() can be called.
  [[nodiscard]] bool has_timeline() const noexcept { return ready_ != nullptr; }
  /// @brief Makes the stream wait until all records (at least one) that the exporter has enqueued by now have been
  /// reached.
  ///
  /// Later work of the stream sees the contents of the memory at the awaited records, or newer contents.
  ///
  /// @param stream a `cudaStream_t` of the GPU that uses the memory; for host memory as in timeline::wait()
  /// @throws error invalid_argument without a timeline; as timeline::wait(). A stream of a GPU continues if the
  /// exporter ends: check() reports the end of the exporter.
  void wait(void* stream) const;
  /// @brief Makes the calling thread wait, as wait() makes a stream wait.
  ///
  /// @throws error invalid_argument without a timeline; wait_timeout, and peer_lost within a second, both naming host
  /// and process.
  void wait_host(std::chrono::milliseconds timeout = std::chrono::milliseconds::max()) const;

 private:
  [[nodiscard]] static opened_memory open_ticket(std::string_view ticket, const detail::given<open_options>& options);

  std::shared_ptr<detail::imported_memory> memory_;
  std::shared_ptr<detail::carried_timeline> ready_;  // the timeline of the ticket that opened this object
  std::string description_;                          // the description in the ticket that opened this object
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
