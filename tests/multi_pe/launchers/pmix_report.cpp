// A job under mpirun, in which a PE tells the PMIx server that another PE has been aborted, as a launcher does. All PEs
// run on. Each PE writes a line with the PE that its world names as lost. The lines go into a file, because mpirun no
// longer forwards all output after the report.
//     pmix_report PE FILE
#include <dlfcn.h>
#include <pmix.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "pgas/pgas.hpp"

namespace {

template <class Function>
Function* function_of_pmix(const char* name) {
  void* const library = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_NOLOAD);  // the library that the world has loaded
  auto* const found = library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
  if (found == nullptr) throw std::runtime_error(std::string("no ") + name);
  return found;
}

/// These variables are not local, because the server reads them after the call has returned.
pmix_proc_t me{};
pmix_proc_t lost{};
pmix_info_t affected{};

void report(int pe) {
  if (function_of_pmix<decltype(PMIx_Init)>("PMIx_Init")(&me, nullptr, 0) != PMIX_SUCCESS)
    throw std::runtime_error("PMIx_Init failed");
  lost = me;
  lost.rank = static_cast<pmix_rank_t>(pe);
  const std::string_view key = PMIX_EVENT_AFFECTED_PROC;
  std::copy(key.begin(), key.end(), affected.key);
  affected.value.type = PMIX_PROC;
  affected.value.data.proc = &lost;
  const auto notify = function_of_pmix<decltype(PMIx_Notify_event)>("PMIx_Notify_event");
  if (const pmix_status_t status = notify(
          PMIX_ERR_PROC_ABORTED, &me, PMIX_RANGE_SESSION, &affected, 1, [](pmix_status_t, void*) {}, nullptr);
      status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
    throw std::runtime_error("PMIx_Notify_event gave " + std::to_string(status));
}

}  // namespace

int main(int count, char** words) try {
  if (count != 3) return 2;
  std::FILE* const lines = std::fopen(words[2], "a");
  if (lines == nullptr) return 2;
  pgas::world world = pgas::world::join();
  world.barrier_all();
  const int me = world.my_pe();
  if (me == 0) report(std::atoi(words[1]));
  try {
    // PE 0 does not call the barrier, so only the report can end the barrier.
    if (me != 0) world.barrier_all();
    for (int i = 0; i < 1000 && me == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      world.check();
    }
    std::fprintf(lines, "PE %d heard nothing\n", me);
  } catch (const pgas::error& failed) {
    std::fprintf(lines, "PE %d names PE %d: %s\n", me, failed.pe(), failed.what());
  }
  std::fclose(lines);
  std::_Exit(0);
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
