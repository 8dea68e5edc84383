// Calls every function of the families that are linked in, and prints for each family whether the checks passed.
//
// Usage: conformance [--scope=host|kernel|stream] [PART OF A FAMILY'S NAME]
//
// Joins through the launcher, or through MPI_COMM_WORLD if compiled with CONFORMANCE_MPI. Without a GPU, only functions
// that the host calls are tested. PE 0 prints. The exit status is 1 if a check failed on any PE, and 77 if no check
// could run.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#if defined(CONFORMANCE_MPI)
#include <mpi.h>
#endif

#include "bench.hpp"

namespace conformance {

std::vector<family>& families() {
  static std::vector<family> all;
  return all;
}

std::vector<int (*)(bench&)>& extras() {
  static std::vector<int (*)(bench&)> all;
  return all;
}

namespace {

const std::map<std::string, check>& checks() {
  static const std::map<std::string, check> all{
      {"put", check_copy},       {"get", check_copy},      {"iput", check_strided},          {"iget", check_strided},
      {"p", check_single},       {"g", check_single},      {"put_signal", check_put_signal}, {"atomic", check_atomic},
      {"wait", check_wait},      {"test", check_test},     {"alltoall", check_move},         {"fcollect", check_move},
      {"broadcast", check_move}, {"reduce", check_reduce}, {"reducescatter", check_reduce}};
  return all;
}

/// The number of PEs for which the value is true.
std::uint64_t votes(const bench& b, bool yes) {
  const std::uint64_t mine = yes ? 1 : 0;
  auto* const counts = reinterpret_cast<std::uint64_t*>(b.signal) + 8;
  b.barrier();
  b.write(counts + 1, &mine, sizeof mine);
  b.barrier();
  nvshmem_uint64_sum_reduce(NVSHMEM_TEAM_WORLD, counts, counts + 1, 1);
  b.barrier();
  std::uint64_t all = 0;
  std::memcpy(&all, b.read(counts, sizeof all).data(), sizeof all);
  return all;
}

struct outcome {
  int called = 0;
  int failed = 0;
};

outcome try_family(bench& b, const family& calls, std::uint64_t& serial) {
  outcome all;
  for (const function& f : calls.functions) {
    if (f.name == nullptr) continue;
    serial += 16;
    const std::string wrong = checks().at(calls.shape)(b, calls, f, serial);
    ++all.called;
    if (!wrong.empty()) std::printf("PE %d: %s: %s\n", b.me, f.name, wrong.c_str());
    if (votes(b, !wrong.empty()) != 0) ++all.failed;
  }
  return all;
}

int run(const std::string& scope, const std::string& part) {
  bench b;
  outcome total;
  std::uint64_t serial = 0;
  int tried = 0;
  for (const family& calls : families()) {
    const std::string where = calls.scope;
    const bool kernel = where != "host" && where != "stream";
    if (!b.gpu && where != "host") continue;
    if (!scope.empty() && scope != (kernel ? "kernel" : where)) continue;
    if (std::string(calls.name).find(part) == std::string::npos) continue;
    const outcome here = try_family(b, calls, serial);
    ++tried;
    total.called += here.called;
    total.failed += here.failed;
    if (b.me == 0)
      std::printf("%s %s: %d functions, %d failed\n", here.failed == 0 ? "PASS" : "FAIL", calls.name, here.called,
                  here.failed);
    std::fflush(stdout);
  }
  if (b.gpu && scope != "host" && scope != "stream" && part.empty()) {
    for (const auto more : extras()) {
      total.failed += more(b);
      ++tried;
    }
  }
  if (b.me == 0)
    std::printf("%d functions in %d families called on %d PEs, %d failed\n", total.called, tried, b.n, total.failed);
  if (tried == 0) return 77;
  return total.failed == 0 ? 0 : 1;
}

/// Joins by a unique id in a file.
bool join_by_id(const char* path, int rank, int size) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) static_cast<void>(cudaSetDevice(rank % devices));
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  const std::string unfinished = std::string(path) + ".part";
  if (rank == 0) {
    if (nvshmemx_get_uniqueid(&id) != 0) return false;
    std::ofstream(unfinished, std::ios::binary).write(reinterpret_cast<const char*>(&id), sizeof id);
    if (std::rename(unfinished.c_str(), path) != 0) return false;
  } else {
    for (int tries = 0; tries < 600; ++tries) {
      std::ifstream file(path, std::ios::binary);
      if (file.read(reinterpret_cast<char*>(&id), sizeof id)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  return nvshmemx_set_attr_uniqueid_args(rank, size, &id, &attributes) == 0 &&
         nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0;
}

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "0" : value;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  std::string scope, part;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--scope=", 0) == 0)
      scope = word.substr(8);
    else
      part = word;
  }
#if defined(CONFORMANCE_MPI)
  MPI_Init(&argc, &argv);
  MPI_Comm world = MPI_COMM_WORLD;
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attributes.mpi_comm = &world;
  nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attributes);
#else
  if (const char* const id = std::getenv("CONFORMANCE_UNIQUEID"); id != nullptr) {
    if (!join_by_id(id, std::atoi(variable("CONFORMANCE_RANK")), std::atoi(variable("CONFORMANCE_SIZE")))) return 3;
  } else {
    nvshmem_init();
  }
#endif
  const int status = run(scope, part);
  nvshmem_finalize();
#if defined(CONFORMANCE_MPI)
  MPI_Finalize();
#endif
  return status;
}
