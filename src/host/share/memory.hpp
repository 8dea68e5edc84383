/// @file
/// Memory behind tickets: the exports of this process, and its mappings of other processes' memory.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "device/sharing.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/export_registration.hpp"
#include "host/share/importer.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// Memory that stays until the streams that may use it have passed; in a child of fork() it is not touched.
[[nodiscard]] std::shared_ptr<const exportable_memory> share_memory(std::unique_ptr<exportable_memory> memory);
/// The same with new memory. *Errors* as shared_memory::make().
[[nodiscard]] std::shared_ptr<const exportable_memory> make_memory(memory_place place, std::size_t bytes,
                                                                   access importers);

/// Memory of this process. *Callers* one thread at a time.
class exported_memory {
 public:
  explicit exported_memory(std::shared_ptr<const exportable_memory> memory, ticket_kind kind = ticket_kind::memory)
      : memory_(std::move(memory)), kind_(kind) {}
  [[nodiscard]] const exportable_memory& memory() const noexcept { return *memory_; }
  /// @param carried the export_id() of the timeline that goes with it, 0: none
  [[nodiscard]] std::string make_ticket(const ticket_options& options, std::uint64_t carried = 0);
  /// The exporter's name for it. *Errors* as make_ticket().
  [[nodiscard]] std::uint64_t export_id();
  void revoke();
  [[nodiscard]] std::vector<opener> opened_by() const;

 private:
  [[nodiscard]] export_registration& registered();

  std::shared_ptr<const exportable_memory> memory_;
  ticket_kind kind_;                                 ///< what its tickets open
  std::unique_ptr<export_registration> registered_;  ///< from the first ticket on
};

/// Whether a timeline goes with the memory of a ticket. *Errors* handle_invalid.
[[nodiscard]] bool carries_timeline(const ticket& which);

/// Memory of another process as it is mapped here, once, and the connections of all tickets that have opened it. The
/// exporter lists this process as long as it is mapped.
/// *Callers* any thread.
class imported_memory final : public deferred_object {
 public:
  /// @param kind what is to be opened: where `which` is of memory and this is a timeline, the one that it carries
  /// *Errors* as opened_memory::open().
  [[nodiscard]] static std::shared_ptr<imported_memory> open(const ticket& which, ticket_kind kind,
                                                             const open_options& options);
  /// Whether part of [pointer, pointer + bytes) is memory of another process that this one has open.
  [[nodiscard]] static bool overlaps(const void* pointer, std::size_t bytes);

  imported_memory(const ticket& by, const sharing_description& described, std::unique_ptr<mapped_import> mapped);

  [[nodiscard]] void* data() const noexcept { return mapped_->data(); }
  /// Where it is mapped to be used.
  [[nodiscard]] memory_place place() const noexcept { return {mapped_->ordinal()}; }
  [[nodiscard]] const sharing_description& description() const noexcept { return description_; }
  [[nodiscard]] const memory_exporter& exporter() const noexcept { return exporter_; }
  [[nodiscard]] bool alive();
  void check();

 private:
  struct table;

  /// The connection that has proven the ticket, if one has.
  [[nodiscard]] exporter_connection* connection_for(const ticket& which);
  void add(std::unique_ptr<exporter_connection> connection);

  const sharing_description description_;
  const memory_exporter exporter_;
  const std::unique_ptr<mapped_import> mapped_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<exporter_connection>> connections_;  ///< only grows; empty: of another host
};

}  // namespace pgas::detail
