#include "bootstrap/pmix/pmix_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

[[nodiscard]] error unavailable(std::string_view what) {
  return {code::bootstrap_unavailable,
          fmt::format("PMIx is not usable: {}. Install libpmix2 of the launcher's installation, or add its folder to "
                      "LD_LIBRARY_PATH",
                      what)};
}

[[nodiscard]] void* open_library() {
  std::string reasons;
  for (const char* name : {"libpmix.so.2", "libpmix.so"}) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* reason = ::dlerror();
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason != nullptr ? reason : name);
  }
  throw unavailable(reasons);
}

template <class Function>
void look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr) throw unavailable(fmt::format("the library that was found has no {}", name));
}

/// "PMIx 4.2.2" of "OpenPMIx 4.2.2 (PMIx Standard: 4.1, ...)", which only the description shows.
[[nodiscard]] std::string version_of(void* handle) {
  const auto ask = reinterpret_cast<decltype(&PMIx_Get_version)>(::dlsym(handle, "PMIx_Get_version"));
  if (ask == nullptr) return "PMIx";
  std::string_view text{ask()};
  text.remove_prefix(std::min(text.find("PMIx"), text.size()));
  const auto second_space = text.find_first_of(" ,", text.find(' ') + 1);
  return std::string{text.substr(0, second_space)};
}

[[nodiscard]] pmix_library load() {
  void* handle = open_library();
  pmix_library library{};
  look_up(handle, "PMIx_Init", library.init);
  look_up(handle, "PMIx_Finalize", library.finalize);
  look_up(handle, "PMIx_Put", library.put);
  look_up(handle, "PMIx_Commit", library.commit);
  look_up(handle, "PMIx_Fence_nb", library.fence_nb);
  look_up(handle, "PMIx_Get", library.get);
  look_up(handle, "PMIx_Abort", library.abort);
  look_up(handle, "PMIx_Error_string", library.error_string);
  library.version = version_of(handle);
  return library;
}

}  // namespace

const pmix_library& pmix_library::get_loaded() {
  static const pmix_library library = load();
  return library;
}

}  // namespace pgas::boot
