// Finds differences between the PEs of a job in settings that should be equal.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/pgas-doctor/job_checks.hpp"

namespace pgas::doctor {

namespace {

/// For each value of the fact `name`, the PEs that report this value.
std::map<std::string, std::vector<int>> by_value(const job& all, const std::string& name) {
  std::map<std::string, std::vector<int>> found;
  for (int pe = 0; pe < all.n(); ++pe) {
    const facts& value = all.pes[static_cast<std::size_t>(pe)][name];
    found[value.is_string() ? value.get<std::string>() : value.dump()].push_back(pe);
  }
  return found;
}

std::string text_of(const std::map<std::string, std::vector<int>>& values) {
  std::string text;
  for (const auto& [value, pes] : values)
    text += fmt::format("{}{} has {}", text.empty() ? "" : "; ", name_pes(pes), value);
  return text;
}

row compare_hosts(const job& all) {
  std::map<int, std::string> names;
  for (std::size_t pe = 0; pe < all.pes.size(); ++pe)
    names.emplace(all.host_of[pe], all.pes[pe]["host"].get<std::string>());
  std::string found;
  for (const auto& [host, name] : names) {
    std::vector<int> positions;
    for (int pe = 0; pe < all.n(); ++pe)
      if (all.host_of[static_cast<std::size_t>(pe)] == host) positions.push_back(pe);
    found += fmt::format("{}{} on {}", found.empty() ? "" : "; ", name_pes(positions), name);
  }
  for (std::size_t pe = 1; pe < all.pes.size(); ++pe)
    if (all.pes[pe]["boot"] == all.pes[0]["boot"] && all.host_of[pe] != all.host_of[0])
      return {"hosts", verdict::slow,
              found + fmt::format("; PE 0 and PE {} are on one machine, in different network namespaces", pe),
              "they count as two hosts: their memory is not shared, and they need a network between them",
              "PGAS_SOCKET_DIR=/a/directory that all of them have mounted; or docker run --network=host"};
  return {"hosts", verdict::ok, found};
}

row compare_libraries(const job& all) {
  std::set<std::string> versions;
  std::set<std::string> builds;
  std::map<std::string, std::vector<int>> paths;
  for (int pe = 0; pe < all.n(); ++pe) {
    const facts& library = all.pes[static_cast<std::size_t>(pe)]["library"];
    const auto version = library["version"].get<std::string>();
    versions.insert(version);
    builds.insert(library["build"].get<std::string>());
    paths[fmt::format("{} {}", library["path"].get<std::string>(), version)].push_back(pe);
  }
  if (builds.size() == 1) return {"same library", verdict::ok, "all PEs load the same"};
  const std::string fix =
      "one LD_LIBRARY_PATH for all PEs (mpirun -x LD_LIBRARY_PATH, srun --export=ALL), or one installation";
  if (versions.size() > 1)
    return {"same library", verdict::fails, text_of(paths), "PEs of different versions don't join", fix};
  return {"same library", verdict::unknown, text_of(paths) + ", which are different builds",
          "it works as long as they were built from the same source", fix};
}

row compare_users(const job& all) {
  for (int pe = 1; pe < all.n(); ++pe)
    for (int other = 0; other < pe; ++other)
      if (all.host_of[static_cast<std::size_t>(pe)] == all.host_of[static_cast<std::size_t>(other)] &&
          all.pes[static_cast<std::size_t>(pe)]["user"] != all.pes[static_cast<std::size_t>(other)]["user"])
        return {"same user", verdict::fails,
                fmt::format("PE {} runs as user {}, PE {} as user {}", other,
                            all.pes[static_cast<std::size_t>(other)]["user"].get<std::string>(), pe,
                            all.pes[static_cast<std::size_t>(pe)]["user"].get<std::string>()),
                "PEs of a host share memory with their own user only: joining fails", "start all PEs as the same user"};
  return {"same user", verdict::ok, "on each host"};
}

row compare_settings(const job& all) {
  for (const char* name : {"PGAS_P2P", "PGAS_HEAP"})
    if (const auto values = by_value(all, name); values.size() > 1)
      return {"same settings", verdict::fails, fmt::format("{}: {}", name, text_of(values)), "joining refuses it",
              fmt::format("the same {} for all PEs (mpirun -x {}, srun --export=ALL)", name, name)};
  for (int pe = 1; pe < all.n(); ++pe) {
    const facts& mine = all.pes[static_cast<std::size_t>(pe)];
    for (int other = 0; other < pe; ++other) {
      const facts& theirs = all.pes[static_cast<std::size_t>(other)];
      if (mine["boot"] == theirs["boot"] && mine["socket kind"] != theirs["socket kind"])
        return {"same settings", verdict::fails,
                fmt::format("PGAS_SOCKET_DIR is set on one of PE {} and PE {} only", other, pe),
                "PEs of one machine don't find one another's sockets: joining refuses it",
                "the same PGAS_SOCKET_DIR for all PEs, or for none (mpirun -x PGAS_SOCKET_DIR)"};
      if (all.host_of[static_cast<std::size_t>(pe)] == all.host_of[static_cast<std::size_t>(other)] &&
          mine.contains("socket directory") && theirs.contains("socket directory") &&
          mine["socket directory"] != theirs["socket directory"])
        return {"same settings", verdict::fails,
                fmt::format("PGAS_SOCKET_DIR has one name for PE {} and PE {}, but is not one directory", other, pe),
                "PEs don't find one another's sockets: joining fails",
                "mount the same directory into both containers (docker run -v), or PGAS_SOCKET_DIR=/another"};
    }
  }
  return {"same settings", verdict::ok, "heap, routes and sockets"};
}

row compare_namespaces(const job& all, const config& settings) {
  const bool processes = by_value(all, "pid namespace").size() > 1;
  const bool shared_memory = by_value(all, "ipc namespace").size() > 1;
  if (all.hosts() > 1 || (!processes && !shared_memory)) return {"namespaces", verdict::ok, "as one host needs them"};
  const std::string found =
      fmt::format("the PEs have different namespaces of {}{}{}", processes ? "processes" : "",
                  processes && shared_memory ? " and " : "", shared_memory ? "System V memory" : "");
  const std::string fix = "one container for all PEs of a host; or docker run --pid=host --ipc=host";
  if (processes && settings.mem_handle == handle_kind::named)
    return {"namespaces", verdict::fails, found, "PGAS_MEM_HANDLE=named looks for memory in /proc of the other PE",
            fix};
  if (all.proxied())
    return {"namespaces", verdict::slow, found, "UCX can't use shared memory between them: it goes over TCP", fix};
  return {"namespaces", verdict::ok, found + "; memory is shared all the same"};
}

row compare_gpus(const job& all) {
  const bool host_heap = all.pes[0]["PGAS_HEAP"] == "host";
  if (host_heap) return {"same GPUs", verdict::ok, "none: host heap"};
  int with = 0;
  std::vector<int> without;
  for (int pe = 0; pe < all.n(); ++pe) {
    if (all.pes[static_cast<std::size_t>(pe)]["gpus"].empty())
      without.push_back(pe);
    else
      ++with;
  }
  if (with == 0) return {"same GPUs", verdict::ok, "none: host heap"};
  const std::string variables = "CUDA_VISIBLE_DEVICES: " + text_of(by_value(all, "CUDA_VISIBLE_DEVICES"));
  if (!without.empty())
    return {"same GPUs", all.pes[0]["PGAS_HEAP"] == "cuda" ? verdict::fails : verdict::slow,
            fmt::format("{} sees no GPU; {}", name_pes(without), variables),
            all.pes[0]["PGAS_HEAP"] == "cuda" ? "PGAS_HEAP=cuda needs one for each PE: joining fails"
                                              : "the heap of all PEs is in host memory, as a world has one kind",
            "unset CUDA_VISIBLE_DEVICES, or name a GPU for each PE (docker run --gpus all, srun --gpus-per-task=1)"};
  for (int pe = 1; pe < all.n(); ++pe) {
    const auto sees = [&](int which) {
      auto list = all.pes[static_cast<std::size_t>(which)]["gpus"].get<std::vector<std::string>>();
      return std::set<std::string>(list.begin(), list.end());
    };
    for (int other = 0; other < pe; ++other)
      if (all.host_of[static_cast<std::size_t>(pe)] == all.host_of[static_cast<std::size_t>(other)] &&
          sees(pe) != sees(other))
        return {
            "same GPUs", verdict::unknown,
            fmt::format("PE {} and PE {} of a host see different GPUs; {}", other, pe, variables),
            "a driver may refuse to map memory of a GPU that the process does not see: the row sharing says whether",
            "let every PE see all GPUs of its host, and choose by PGAS_DEVICE or local rank"};
  }
  return {"same GPUs", verdict::ok, "all PEs of a host see the same"};
}

row compare_cpus(const job& all) {
  const std::string fix =
      "fewer PEs on the host; mpirun --bind-to none, srun --cpu-bind=none; more CPUs for the container";
  for (int host = 0; host < all.hosts(); ++host) {
    const auto pes = std::ranges::count(all.host_of, host);
    if (const int cpus = all.cpus_of(host); cpus > 0 && pes > cpus)
      return {"CPUs", verdict::slow, fmt::format("{} PEs have {} CPU{} between them", pes, cpus, cpus == 1 ? "" : "s"),
              "waiting PEs take CPU time from the PEs that they wait for", fix};
  }
  const bool single = std::ranges::any_of(all.pes, [](const facts& each) { return each["cpus"].size() == 1; });
  if (all.proxied() && single)
    return {"CPUs", verdict::slow, "each PE has one CPU for the program and its proxy",
            "transfers to proxied PEs progress only while the program waits", fix};
  return {"CPUs", verdict::ok, "one or more for each PE"};
}

}  // namespace

std::vector<row> compare(const job& all, const config& settings) {
  if (all.n() == 1) return {compare_hosts(all)};
  return {compare_hosts(all),
          compare_libraries(all),
          compare_users(all),
          compare_settings(all),
          compare_namespaces(all, settings),
          compare_gpus(all),
          compare_cpus(all)};
}

}  // namespace pgas::doctor
