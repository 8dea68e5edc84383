/// @file
/// The metadata that NIXL keeps for the backend. It describes memory of this agent, which other agents open by tickets,
/// and memory of other agents, which this agent opens by tickets.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backend/backend_aux.h"
#include "pgas/shared_memory.hpp"

namespace pgas::nixl {

/// Memory of this agent. The ticket is the public metadata.
class registered_memory final : public nixlBackendMD {
 public:
  /// *Errors* as shared_memory::share(), which refuses memory that cannot be shared.
  explicit registered_memory(const nixlBasicDesc& range);

  /// The ticket of the whole memory. The ticket opens the memory for processes of this user until the memory is
  /// deregistered.
  [[nodiscard]] const std::string& ticket() const noexcept { return ticket_; }
  /// The range that was registered.
  [[nodiscard]] const nixlBasicDesc& range() const noexcept { return range_; }

 private:
  nixlBasicDesc range_;
  shared_memory memory_;
  std::string ticket_;
};

/// Memory of another agent, or memory of this agent if the agent transfers data to itself.
///
/// The memory is opened for each device that copies it, at the first transfer of that device.
/// *Callers* any thread.
class remote_memory final : public nixlBackendMD {
 public:
  /// @param range the addresses in the agent that has registered the memory
  /// @param ticket the public metadata of the memory
  remote_memory(const nixlBasicDesc& range, std::string ticket);

  /// Returns the memory, mapped for `place`. The memory stays mapped while the returned object exists. *Errors* as
  /// opened_memory::open().
  [[nodiscard]] std::shared_ptr<const opened_memory> opened_for(memory_place place);
  /// The address in `opened` of the part `part` of the memory. *Errors* invalid_argument if the part is not inside the
  /// range.
  [[nodiscard]] std::byte* translate(const opened_memory& opened, const nixlBasicDesc& part) const;

 private:
  const nixlBasicDesc range_;
  const std::string ticket_;
  std::mutex mutex_;
  std::map<int, std::shared_ptr<const opened_memory>> opened_;  ///< the mappings by the number of the GPU; -1: the host
};

}  // namespace pgas::nixl
