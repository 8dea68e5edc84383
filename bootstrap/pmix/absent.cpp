// Built in place of the other files here where pmix.h was not found.
#include "bootstrap/join_methods.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {

std::unique_ptr<bootstrap> join_pmix(const bootstrap_options&, std::string&) {
  throw error{code::bootstrap_unavailable,
              "this library was built without PMIx. Build it where libpmix-dev is installed (PGAS_PMIX=ON), start with "
              "pgasrun, or give a unique id or MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE"};
}

}  // namespace pgas::boot
