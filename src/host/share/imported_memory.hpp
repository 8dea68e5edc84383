/// @file
/// Memory of other processes that tickets have opened and this process has mapped.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/sharing.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/exporter_connection.hpp"
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

}  // namespace pgas::detail
