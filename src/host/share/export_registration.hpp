/// @file
/// The objects that this process shares, and their registration with the exporter. The exporter makes the tickets for
/// them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fork_guard.hpp"
#include "device/sharing.hpp"
#include "host/share/ticket.hpp"

namespace pgas::detail {

/// An object that tickets open. *Callers* any thread. The exporter alone calls piece().
class shared_object {
 public:
  virtual ~shared_object() = default;
  shared_object() = default;
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;

  [[nodiscard]] virtual ticket_kind kind() const noexcept = 0;
  /// The description for importers, at most max_description bytes.
  [[nodiscard]] virtual blob description() const = 0;
  /// The number of pieces, at most max_handles.
  [[nodiscard]] virtual std::size_t pieces() const noexcept = 0;
  /// Called for each importer; the returned handles are sent and closed. *Errors* those of the device.
  [[nodiscard]] virtual shared_piece piece(std::size_t number) const = 0;
  /// A form of the object for importers that may only read it. *Errors* invalid_argument if the object has no such
  /// form.
  [[nodiscard]] virtual std::shared_ptr<const shared_object> read_only() const {
    throw error(code::invalid_argument, "only memory has tickets that are read-only");
  }
  /// "memory of 4096 bytes on the host", for lists and the log.
  [[nodiscard]] virtual std::string text() const = 0;
};

class exporter;

/// Registers an object with the exporter of this process. The exporter starts with the first registration and ends with
/// the last one. The destructor revokes all tickets and tells importers that the object is no longer exported.
/// Importers keep the memory that they have opened.
///
/// *Callers* any thread. In a child of fork() the destructor does nothing, and ticket() throws forked_process.
class export_registration {
 public:
  /// *Errors* system, config_value.
  explicit export_registration(std::shared_ptr<const shared_object> what);
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
  /// A pointer, because a child of fork() must release it without destroying the exporter and without allocating
  /// memory.
  std::unique_ptr<std::shared_ptr<exporter>> owned_;
  exporter* exporter_;
  std::uint64_t id_ = 0;
};

}  // namespace pgas::detail
