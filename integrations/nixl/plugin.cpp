// The functions that NIXL looks up in the plugin's file.
#include "backend/backend_plugin.h"
#include "engine.hpp"
#include "pgas/version.h"

// NIXL looks up these functions by name, so the compiler sees no caller of them.
extern "C" {

nixlBackendPlugin* nixl_plugin_init() {
  using creator = nixlBackendPluginCreator<pgas::nixl::engine>;
  return creator::create(NIXL_PLUGIN_API_VERSION, "PGAS", PGAS_VERSION_TEXT, {},
                         pgas::nixl::engine::supported_memory());
}

void nixl_plugin_fini() {}
}
