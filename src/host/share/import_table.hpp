/// @file
/// The memory of other processes that tickets have opened, and the table of this memory: a process maps the memory of a
/// ticket once, however often it opens the ticket.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "common/deadline.hpp"
#include "device/sharing.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/exporter_connection.hpp"
#include "host/share/ticket.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// Memory of another process, which this process maps once, and the connections of all tickets that have opened the
/// memory. The exporter lists this process as an importer as long as the memory is mapped. Made by import_table.
/// *Callers* any thread.
class imported_memory final : public deferred_object {
 public:
  imported_memory(const ticket& by, const sharing_description& described, std::unique_ptr<mapped_import> mapped);

  [[nodiscard]] void* data() const noexcept { return mapped_->data(); }
  /// The place where this process uses the memory.
  [[nodiscard]] memory_place place() const noexcept { return {mapped_->ordinal()}; }
  [[nodiscard]] const sharing_description& description() const noexcept { return description_; }
  [[nodiscard]] const memory_exporter& exporter() const noexcept { return exporter_; }
  [[nodiscard]] bool alive();
  void check();
  /// The connection that was authenticated with the ticket; null if there is none.
  [[nodiscard]] exporter_connection* connection_for(const ticket& which);
  void add(std::unique_ptr<exporter_connection> connection);

 private:
  const sharing_description description_;
  const memory_exporter exporter_;
  const std::unique_ptr<mapped_import> mapped_;
  std::mutex mutex_;
  /// Connections are added and never removed. Empty if the memory belongs to another host.
  std::vector<std::unique_ptr<exporter_connection>> connections_;
};

/// Whether a ticket of memory carries a timeline. *Errors* handle_invalid.
[[nodiscard]] bool carries_timeline(const ticket& which);

/// The memory of other processes that this process has mapped, and the tickets that its threads are opening. *Callers*
/// any thread.
class import_table {
 public:
  [[nodiscard]] static import_table& of_process();

  /// Opens a ticket. If this process still has the memory of the ticket open, returns that memory.
  /// @param kind the kind of object to open. If `kind` is `timeline` and the ticket is a memory ticket, opens the
  /// timeline that the ticket carries
  /// *Errors* as opened_memory::open().
  [[nodiscard]] std::shared_ptr<imported_memory> open(const ticket& which, ticket_kind kind,
                                                      const open_options& options);
  /// Whether part of [pointer, pointer + bytes) is memory of another process that this process has open.
  [[nodiscard]] bool overlaps(const void* pointer, std::size_t bytes);

 private:
  /// The id of the ticket, the kind of object opened, and the place.
  using ticket_key = std::tuple<std::uint64_t, ticket_kind, int>;
  /// The exporter, the memory block, the place, and whether the mapping is read-only.
  using block_key = std::tuple<pid_t, std::uint64_t, decltype(sharing_description::block), int, bool>;

  /// The memory that the ticket has opened before, with a connection that was authenticated with the ticket. If the
  /// result is null, the caller opens the ticket. Other threads that call this function wait until the caller's
  /// reservation ends. *Errors* wait_timeout.
  [[nodiscard]] std::shared_ptr<imported_memory> find_or_reserve(const ticket_key& key, const ticket& which,
                                                                 const deadline& limit);
  /// Ends a reservation of find_or_reserve().
  class reservation {
   public:
    reservation(import_table& table, const ticket_key& key) : of_(table), key_(key) {}
    ~reservation();
    reservation(const reservation&) = delete;
    reservation& operator=(const reservation&) = delete;

   private:
    import_table& of_;
    const ticket_key key_;
  };
  /// Returns the memory of a block for a ticket. The first ticket of the block maps the memory, and threads with other
  /// tickets of the block wait until the memory is mapped.
  [[nodiscard]] std::shared_ptr<imported_memory> find_or_map(
      const ticket_key& key, const block_key& block, const std::function<std::shared_ptr<imported_memory>()>& map);

  std::mutex mutex_;
  std::condition_variable opened_;
  std::set<ticket_key> opening_;
  std::map<ticket_key, std::weak_ptr<imported_memory>> by_ticket_;
  std::map<block_key, std::weak_ptr<imported_memory>> by_block_;
};

}  // namespace pgas::detail
