// Runs random programs on the PEs of the device tests' harness until the time limit is reached or the given number of
// operations is complete, and compares the memory of all PEs with the memory of the model. A failure is reported with
// the seed, the shortest beginning of the program that fails, and the command that repeats it.
//
//   random_cpu [--seconds=N | --total=N] [--seed=S] [--pes=N] [--blocks=N] [--operations=N] [--gpus=N] [--domain=N]
//              [--faulty=SEED] [--scattered=1]
//
// --operations is the length of one program. --total is the number of operations of all programs, without a time limit.
// With --seed, only the program of this seed runs; with --seed and --total, the programs from this seed on. Without
// --pes and --blocks, the seed chooses the numbers of PEs and blocks.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include "attempt.hpp"

namespace {

using namespace pgas_random;
using clock_type = std::chrono::steady_clock;

struct options {
  std::uint64_t seconds = 10;
  std::uint64_t total = 0;
  std::uint64_t seed = 0;
  std::uint64_t pes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t operations = 10'000;
  std::uint64_t gpus = 0;
  std::uint64_t domain = 0;
  std::uint64_t faulty = 0;
  std::uint64_t scattered = 0;
};

std::optional<options> read_options(int argc, char** argv) {
  options all;
  struct named {
    std::string_view name;
    std::uint64_t& value;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    bool known = false;
    for (const named& option :
         {named{"--seconds=", all.seconds}, named{"--total=", all.total}, named{"--seed=", all.seed},
          named{"--pes=", all.pes}, named{"--blocks=", all.blocks}, named{"--operations=", all.operations},
          named{"--gpus=", all.gpus}, named{"--domain=", all.domain}, named{"--faulty=", all.faulty},
          named{"--scattered=", all.scattered}}) {
      if (argument.substr(0, option.name.size()) != option.name) continue;
      char* end = nullptr;
      option.value = std::strtoull(argv[i] + option.name.size(), &end, 10);
      known = *end == 0 && end != argv[i] + option.name.size();
    }
    if (!known) {
      std::fprintf(stderr, "%s: unknown option or no number: %s\n", argv[0], argv[i]);
      return std::nullopt;
    }
  }
  if (all.pes > 8 || all.pes == 1 || all.blocks > 2) {
    std::fprintf(stderr, "%s: programs have 2 to 8 PEs and 1 or 2 blocks\n", argv[0]);
    return std::nullopt;
  }
  return all;
}

program_choice choose(const options& wanted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  program_choice choice;
  choice.seed = seed;
  choice.pes = static_cast<int>(2 + random() % 7);
  choice.blocks = static_cast<int>(1 + random() % 2);
  if (wanted.pes != 0) choice.pes = static_cast<int>(wanted.pes);
  if (wanted.blocks != 0) choice.blocks = static_cast<int>(wanted.blocks);
  choice.operations = static_cast<std::uint32_t>(wanted.operations);
  return choice;
}

std::optional<mismatch> run_once(const program_choice& choice, std::chrono::seconds wait_timeout,
                                 clock_type::time_point until, std::uint64_t& operations) {
  attempt item(choice, wait_timeout);
  const std::optional<mismatch> found = item.run([&] { return clock_type::now() < until; });
  operations += item.operations();
  return found;
}

/// Searches for the smallest number of operations with which the random program still fails, and reports this program.
void report(const char* program, const program_choice& failed, const mismatch& first_found) {
  std::printf("FAILED: seed %llu, %d PEs, %d blocks each, between operations %u and %u:\n%s",
              static_cast<unsigned long long>(failed.seed), failed.pes, failed.blocks, first_found.first,
              first_found.last, first_found.text.c_str());
  std::fflush(stdout);
  constexpr int tries = 3;  // some failures do not occur in every run
  mismatch shortest = first_found;
  program_choice shorter = failed;
  std::uint64_t operations = 0;
  const auto until = clock_type::now() + std::chrono::minutes(2);
  for (std::uint32_t low = first_found.first, high = first_found.last; low < high && clock_type::now() < until;) {
    shorter.operations = low + (high - low) / 2;
    std::optional<mismatch> again;
    for (int i = 0; i < tries && !again; ++i)
      again = run_once(shorter, std::chrono::seconds(5), clock_type::time_point::max(), operations);
    if (again) {
      shortest = *again;
      high = shorter.operations;
      shortest.last = high;
    } else {
      low = shorter.operations + 1;
    }
  }
  shorter.operations = shortest.last;
  std::printf("The first %u operations are enough:\n%s", shortest.last, shortest.text.c_str());
  std::printf(
      "Repeat it with: %s --seed=%llu --pes=%d --blocks=%d --operations=%u --domain=%d --faulty=%u --scattered=%d\n",
      program, static_cast<unsigned long long>(failed.seed), failed.pes, failed.blocks, shortest.last,
      pgas_test::asked_domain(), pgas_test::asked_fault_seed(), pgas_test::asked_scattered() ? 1 : 0);
}

int run_all(const char* program, const options& wanted) {
  const bool timed = wanted.seed == 0 && wanted.total == 0;
  const auto until = timed ? clock_type::now() + std::chrono::seconds(wanted.seconds) : clock_type::time_point::max();
  // A PE can execute thousands of proxied fetches while another PE waits for it. On a busy machine, the fetches take
  // many seconds.
  const std::chrono::seconds patience(wanted.total == 0 ? 60 : 600);
  std::uint64_t seed = wanted.seed;
  if (seed == 0) seed = std::random_device{}() & 0x7fffffff;
  std::uint64_t programs = 0;
  std::uint64_t operations = 0;
  std::printf("random programs from seed %llu on\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto start = clock_type::now();
  do {
    const program_choice choice = choose(wanted, seed + programs);
    const auto found = run_once(choice, patience, until, operations);
    ++programs;
    if (found) {
      report(program, choice, *found);
      return 1;
    }
  } while (timed ? clock_type::now() < until : operations < wanted.total);
  const std::chrono::duration<double> took = clock_type::now() - start;
  std::printf("passed: %llu operations of %llu programs, seeds %llu to %llu, in %.1f s\n",
              static_cast<unsigned long long>(operations), static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed + programs - 1),
              took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Loads all kernels at the start. Otherwise CUDA would load a kernel while a running kernel waits for the kernel that
  // is being loaded.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // prevents the streams of several PEs from waiting for one another
  const std::optional<options> wanted = read_options(argc, argv);
  if (!wanted) return 2;
  pgas_test::asked_domain() = static_cast<int>(wanted->domain);
  pgas_test::asked_fault_seed() = static_cast<std::uint32_t>(wanted->faulty);
  pgas_test::asked_scattered() = wanted->scattered != 0;
#if defined(__CUDACC__)
  int& gpus = pgas_test::gpus();
  if (gpus == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  if (wanted->gpus != 0 && wanted->gpus < static_cast<std::uint64_t>(gpus)) gpus = static_cast<int>(wanted->gpus);
#endif
  return run_all(argv[0], *wanted);
}
