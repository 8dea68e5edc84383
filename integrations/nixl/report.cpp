#include "report.hpp"

#include <cstdio>
#include <string>

#include "pgas/error.hpp"

namespace pgas::nixl {

namespace {

nixl_status_t status_of(code what) {
  switch (what) {
    case code::invalid_argument: return NIXL_ERR_INVALID_PARAM;
    case code::authentication: return NIXL_ERR_NOT_ALLOWED;
    case code::handle_invalid:
    case code::version_mismatch: return NIXL_ERR_MISMATCH;
    case code::peer_unreachable:
    case code::device_unavailable: return NIXL_ERR_NOT_SUPPORTED;
    case code::peer_lost: return NIXL_ERR_REMOTE_DISCONNECT;
    default: return NIXL_ERR_BACKEND;
  }
}

}  // namespace

void report(std::string_view what) {
  const std::string line = "[pgas] NIXL backend: " + std::string(what) + '\n';
  std::fputs(line.c_str(), stderr);
}

nixl_status_t report(std::string_view what, const std::exception& failed) {
  report(std::string(what) + ": " + failed.what());
  const auto* const known = dynamic_cast<const error*>(&failed);
  return known != nullptr ? status_of(known->code()) : NIXL_ERR_BACKEND;
}

}  // namespace pgas::nixl
