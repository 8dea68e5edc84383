/// @file
/// The registration of an object with the exporter of this process. The registration makes the object's tickets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/fork_guard.hpp"
#include "device/sharing.hpp"
#include "host/share/ticket.hpp"

namespace pgas::detail {

class exporter;

/// Registers an object with the exporter of this process. The exporter starts with the first registration and ends with
/// the last one. The destructor revokes all tickets and tells importers that the object is no longer exported.
/// Importers keep the memory that they have opened.
///
/// *Callers* any thread. In a child of fork() the destructor does nothing, and ticket() throws forked_process.
class export_registration {
 public:
  /// @param memory the memory of the object, at most max_handles pieces. The exporter alone calls piece()
  /// @param kind the kind of object that tickets open *Errors* system, config_value.
  export_registration(std::shared_ptr<const exportable_memory> memory, ticket_kind kind);
  ~export_registration();
  export_registration(const export_registration&) = delete;
  export_registration& operator=(const export_registration&) = delete;

  /// @param payload at most ticket::max_payload bytes, readable by every process that has the ticket.
  /// @param carried the id() of the timeline that the ticket carries; 0: none
  /// *Errors* invalid_argument, system, forked_process.
  [[nodiscard]] std::string make_ticket(const ticket_options& options, blob payload, std::uint64_t carried = 0);
  /// The exporter's identifier of the object.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// Revokes all tickets of the object.
  void revoke();
  [[nodiscard]] std::vector<opener> opened_by() const;

 private:
  const fork_guard process_;
  /// A pointer to a pointer: a child of fork() must release the shared_ptr without destroying the exporter and without
  /// allocating memory.
  std::unique_ptr<std::shared_ptr<exporter>> owned_;
  exporter* exporter_;
  std::uint64_t id_ = 0;
};

}  // namespace pgas::detail
