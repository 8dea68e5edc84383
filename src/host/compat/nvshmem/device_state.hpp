/// @file
/// The state of the world that kernels read. Each translation unit and each loaded module has a copy, and all copies
/// are kept up to date.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "host/compat/nvshmem/cuda_driver.hpp"
#include "pgas/compat/nvshmem/device_state.h"
#include "pgas/world.hpp"

namespace pgas::compat {

/// All copies. The copies are on the world's GPU, even if another GPU is current in a call. *Callers* any thread.
class state_registry {
 public:
  /// The instance of this library. Never destroyed, because units unregister their copies while the process ends.
  [[nodiscard]] static state_registry& instance();

  /// Registers a copy, and writes it if a state is published. With -rdc=true the translation units of a library
  /// register one after another, and a copy cannot be written before the last unit has registered. Therefore a failed
  /// write is repeated when a later unit registers.
  void add(pgas_nvshmem_state_setter set);
  /// Writes the copies whose first write failed. *Errors* device_failed.
  void complete();
  /// Unregisters a copy.
  void remove(pgas_nvshmem_state_setter set);
  /// Registers a module or library that the program loaded. *Errors* those of write_variable(); after an error the code
  /// is not registered.
  void add(const loaded_code& loaded);
  /// Empties the copy of loaded code and unregisters it. *Errors* invalid_argument if it is not registered.
  void remove(const loaded_code& loaded);

  /// Writes the state of `joined` to all copies, and to new copies until withdraw(). withdraw() must be called before
  /// the world is left.
  /// @param now returns the state; called under a lock, so that the last state written is the newest.
  /// *Errors* of `now`, device_failed.
  void publish(world& joined, const std::function<pgas_nvshmem_state()>& now);
  /// Empties all copies that were written.
  void withdraw() noexcept;

 private:
  struct unit {
    pgas_nvshmem_state_setter set = nullptr;
    bool stale = false;  ///< the copy is out of date
  };

  void write(unit& copy, const pgas_nvshmem_state& state) const;
  void write(const loaded_code& loaded, const pgas_nvshmem_state& state) const;

  std::mutex mutex_;
  std::vector<unit> units_;
  std::vector<loaded_code> loaded_;
  world* joined_ = nullptr;  ///< the world with the published state; null if none is published
  pgas_nvshmem_state state_{};
};

/// Allocates the table of the memory that blocks lend (block_table) if PGAS_LENT_MEMORY requests it. Collective. No
/// effect on the host heap.
void create_block_table(world& joined);

/// Publishes the current state. Called when the world is joined, and after each change of teams. No effect on the host
/// heap, which has no kernels. *Errors* device_failed.
void publish_state(world& joined);
/// Empties all copies before the world is left.
void withdraw_state() noexcept;

}  // namespace pgas::compat
