/// @file
/// Where kernels find the state of the world: one copy in each translation unit and module, and all of them kept up to
/// date.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "host/compat/nvshmem/driver.hpp"
#include "pgas/compat/nvshmem/state.h"
#include "pgas/world.hpp"

namespace pgas::capi {

/// Knows all copies, which are on the world's GPU, whichever is current where it is called. *Callers* any thread.
class state_registry {
 public:
  /// The one of this library, never destroyed: units take their copies back while the process ends.
  [[nodiscard]] static state_registry& instance();

  /// Announces a copy, and writes it where there is a state. A library that is being loaded announces its units one by
  /// one, and with -rdc=true none can be written before the last has come: what fails is tried again with every later
  /// one.
  void add(pgas_nvshmem_state_setter set);
  /// Writes what could not be written yet. *Errors* device_failed.
  void complete();
  /// Forgets it.
  void remove(pgas_nvshmem_state_setter set);
  /// The same for code that was loaded by hand. *Errors* of write_variable(); the code is not known then.
  void add(const loaded_code& loaded);
  /// Empties its copy and forgets it. *Errors* invalid_argument where it is not known.
  void remove(const loaded_code& loaded);

  /// Writes the state of `joined` to all copies, from now on to new ones too, until withdraw(), which must come before
  /// the world goes. @param now gives the state; one call at a time, so that what is written last is the newest.
  /// *Errors* of `now`, device_failed.
  void publish(world& joined, const std::function<pgas_nvshmem_state()>& now);
  /// Empties all copies, if there is something in them.
  void withdraw() noexcept;

 private:
  struct unit {
    pgas_nvshmem_state_setter set = nullptr;
    bool stale = false;  ///< its copy is not written yet
  };

  void write(unit& copy, const pgas_nvshmem_state& state) const;
  void write(const loaded_code& loaded, const pgas_nvshmem_state& state) const;

  std::mutex mutex_;
  std::vector<unit> units_;
  std::vector<loaded_code> loaded_;
  world* joined_ = nullptr;  ///< whose state is published, if any is
  pgas_nvshmem_state state_{};
};

/// Tells all copies what there is now, once the world is joined and after every change of teams. Kernels exist only on
/// GPU heaps. *Errors* device_failed.
void publish_state(world& joined);
/// Empties all copies: the world is about to be left.
void withdraw_state() noexcept;

}  // namespace pgas::capi
