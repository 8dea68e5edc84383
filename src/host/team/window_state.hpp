/// @file
/// The state of a pgas::window: the memory of this PE that is exported by tickets, the mapped memory of the other
/// members, and the table of addresses.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/owned_device_memory.hpp"
#include "host/share/deferred_release.hpp"
#include "host/share/exported_memory.hpp"
#include "host/share/import_table.hpp"
#include "pgas/device/window.hpp"

namespace pgas::detail {

class team_state;
class world_state;

/// Exported memory of this PE, for all windows that contain it.
struct window_export {
  explicit window_export(std::shared_ptr<const exportable_memory> exported) : memory(std::move(exported)) {}
  exported_memory memory;
  std::string ticket;
};

/// A window. Made by make(), and destroyed when no stream uses it any more.
class window_state final : public deferred_object {
 public:
  /// Collective over the team. *Errors* as the constructor of pgas::window.
  [[nodiscard]] static std::shared_ptr<window_state> make(team_state& team, void* pointer, std::size_t bytes);

  /// The memory of all members. *Errors* pe_out_of_range.
  [[nodiscard]] const window_part& part(int pe) const;
  [[nodiscard]] int n_pes() const noexcept { return static_cast<int>(parts_.size()); }
  [[nodiscard]] window_view view() const noexcept;

 private:
  explicit window_state(team_state& team);
  /// Exports the memory of this PE. Returns the text of its ticket.
  [[nodiscard]] std::string share(void* pointer, std::size_t bytes);
  void open(team_state& team, int member, const std::string& ticket);
  void write_table();

  const std::shared_ptr<world_state> world_;  ///< keeps the device
  std::shared_ptr<window_export> mine_;
  std::vector<std::shared_ptr<imported_memory>> theirs_;
  std::vector<window_part> parts_;
  device_block table_;
};

}  // namespace pgas::detail
