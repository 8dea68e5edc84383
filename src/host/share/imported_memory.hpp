/// @file
/// Memory of other processes that tickets have opened, as it is mapped here.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/sharing.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/exporter_connection.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

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

  imported_memory(const ticket& by, const sharing_description& described, std::unique_ptr<mapped_import> mapped);

  [[nodiscard]] void* data() const noexcept { return mapped_->data(); }
  /// Where it is mapped to be used.
  [[nodiscard]] memory_place place() const noexcept { return {mapped_->ordinal()}; }
  [[nodiscard]] const sharing_description& description() const noexcept { return description_; }
  [[nodiscard]] const memory_exporter& exporter() const noexcept { return exporter_; }
  [[nodiscard]] bool alive();
  void check();
  /// The connection that has proven the ticket, if one has.
  [[nodiscard]] exporter_connection* connection_for(const ticket& which);

 private:
  void add(std::unique_ptr<exporter_connection> connection);

  const sharing_description description_;
  const memory_exporter exporter_;
  const std::unique_ptr<mapped_import> mapped_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<exporter_connection>> connections_;  ///< only grows; empty: of another host
};

}  // namespace pgas::detail
