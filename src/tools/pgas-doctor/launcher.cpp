#include "tools/pgas-doctor/launcher.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "host/config/option_value.hpp"
#include "host/config/read_environment.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/child_trial.hpp"

namespace pgas::doctor {

namespace {

using config_detail::setting_of_others;

std::optional<int> number_in(const char* variable) {
  const auto text = setting_of_others(variable);
  if (!text) return std::nullopt;
  const auto value = config_detail::parse_integer(*text);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

/// A launcher that reports the number of its processes in a variable.
struct launcher {
  const char* size;
  const char* name;
  const char* fix;
};

constexpr launcher launchers[] = {
    {"PGAS_SIZE", "pgasrun", "unset PGAS_BOOTSTRAP"},
    {"OMPI_COMM_WORLD_SIZE", "mpirun",
     "a libpgas that was built with PMIx (pgas-info prints it), and unset PGAS_BOOTSTRAP; or pgasrun"},
    {"SLURM_STEP_NUM_TASKS", "srun", "srun --mpi=pmix; `srun --mpi=list` shows whether this Slurm has it"},
    {"SLURM_NTASKS", "srun", "srun --mpi=pmix; `srun --mpi=list` shows whether this Slurm has it"},
    {"PMI_SIZE", "a launcher that speaks PMI, not PMIx",
     "mpirun of Open MPI, srun --mpi=pmix, or pgasrun; or MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE"},
    {"WORLD_SIZE", "torchrun", "MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE together, for every process"},
};

/// Whether the variable of a launcher describes this process. In an allocation of Slurm (salloc, sbatch), the batch
/// script has the job's variables, but is not a task.
bool counts(const launcher& item) {
  const std::string_view name = item.size;
  if (!name.starts_with("SLURM")) return true;
  return setting_of_others("SLURM_STEP_ID").has_value() && setting_of_others("SLURM_STEP_ID") != "4294967291" &&
         setting_of_others("SLURM_PROCID").has_value();
}

}  // namespace

int rank_by_launcher() {
  for (const char* variable : {"PGAS_RANK", "PMIX_RANK", "RANK"})
    if (const auto rank = number_in(variable)) return *rank;
  return -1;
}

row check_launcher(int size, const std::string& how) {
  if (size == 1)
    for (const launcher& item : launchers)
      if (const auto started = number_in(item.size); started && *started > 1 && counts(item))
        return {"launcher", verdict::fails,
                fmt::format("{} started {} processes ({}), and each is a world of its own: {}", item.name, *started,
                            item.size, how),
                "every process is PE 0 of a world of one PE", item.fix};
  return {"launcher", verdict::ok, how};
}

row check_pmix(const std::string& how) {
  // A child process loads the library, because a loaded library stays loaded, and this library can belong to another
  // installation.
  const trial seen = try_in_child(std::chrono::seconds(10), []() -> std::string {
    void* handle = ::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) handle = ::dlopen("libpmix.so", RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      throw error(code::bootstrap_unavailable, why != nullptr ? why : "libpmix.so.2 is not here");
    }
    const auto version = reinterpret_cast<const char* (*)()>(::dlsym(handle, "PMIx_Get_version"));
    return version != nullptr ? version() : "of an unknown version";
  });
  if (how.starts_with("PMIx") || how.starts_with("OpenPMIx"))
    return {"PMIx", verdict::ok, how.substr(0, how.find(','))};
  if (!seen.result) return {"PMIx", verdict::ok, "none here; only mpirun and srun need it"};
  return {"PMIx", verdict::ok, seen.result->substr(0, seen.result->find(" (")) + "; only mpirun and srun need it"};
}

row row_of_launcher_failure(const error& why) {
  row result{"launcher", verdict::fails, why.what(), "a program that joins gets this error", ""};
  const std::string text = why.what();
  if (text.find("PMIx is not usable") != std::string::npos)
    result.fix = "apt-get install libpmix2, or the folder of the launcher's libpmix in LD_LIBRARY_PATH";
  else if (text.find("without PMIx") != std::string::npos)
    result.fix = "a libpgas that was built where libpmix-dev is; or pgasrun";
  else if (text.find("pgasrun's socket") != std::string::npos)
    result.fix =
        "pgasrun -n N pgas-doctor without a wrapper that closes descriptors (Python: subprocess with pass_fds)";
  else
    for (const error_info& each : error_table())
      if (each.code == why.code()) result.fix = each.fix;
  return result;
}

}  // namespace pgas::doctor
