/// @file
/// Memory of this process that tickets open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/sharing.hpp"
#include "host/share/export_registration.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas::detail {

/// Makes the owner of memory that tickets open. The memory is kept until all streams have completed the work that can
/// use the memory. A child of fork() does not release the memory.
[[nodiscard]] std::shared_ptr<const exportable_memory> share_memory(std::unique_ptr<exportable_memory> memory);
/// Allocates memory and shares it. *Errors* as shared_memory::make().
[[nodiscard]] std::shared_ptr<const exportable_memory> make_memory(memory_place place, std::size_t bytes,
                                                                   access importers);

/// Exported memory of this process. *Callers* one thread at a time.
class exported_memory {
 public:
  explicit exported_memory(std::shared_ptr<const exportable_memory> memory, ticket_kind kind = ticket_kind::memory)
      : memory_(std::move(memory)), kind_(kind) {}
  [[nodiscard]] const exportable_memory& memory() const noexcept { return *memory_; }
  /// @param carried the export_id() of the timeline that the ticket carries; 0: none
  [[nodiscard]] std::string make_ticket(const ticket_options& options, std::uint64_t carried = 0);
  /// The number by which the exporter knows the memory. *Errors* as make_ticket().
  [[nodiscard]] std::uint64_t export_id();
  void revoke();
  [[nodiscard]] std::vector<opener> opened_by() const;

 private:
  [[nodiscard]] export_registration& registered();

  std::shared_ptr<const exportable_memory> memory_;
  ticket_kind kind_;                                 ///< the kind of object that the tickets open
  std::unique_ptr<export_registration> registered_;  ///< empty before the first ticket
};

}  // namespace pgas::detail
