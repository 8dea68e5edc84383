// Calls that do not match, or that one PE makes wrongly. Each PE has to throw the same named error immediately.
//     misuse MODE
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

/// The action of a mode, and the error that all PEs must get.
struct mode {
  const char* name;
  pgas::code expected;
  const char* words;
  void (*call)(pgas::world& world, int* memory);  ///< `memory` has 200 elements
};

const mode modes[] = {
    {"fcollect_of_another", pgas::code::invalid_argument, "fcollect: source and destination overlap",
     [](pgas::world& world, int* memory) { pgas::fcollect(world.team(), memory, memory + 20, 20); }},
    {"fcollect_across", pgas::code::invalid_argument, "fcollect: source and destination overlap",
     [](pgas::world& world, int* memory) { pgas::fcollect(world.team(), memory, memory + 10, 20); }},
    {"reduce_scatter_of_another", pgas::code::invalid_argument, "reduce_scatter: source and destination overlap",
     [](pgas::world& world, int* memory) {
       pgas::reduce_scatter(world.team(), memory + 20, memory, 20, pgas::op::sum{});
     }},
    {"mixed_in_place", pgas::code::invalid_argument, "in place on all members",
     [](pgas::world& world, int* memory) {
       pgas::fcollect(world.team(), memory, world.my_pe() == 0 ? memory : memory + 120, 20);
     }},
    {"reduce_against_barrier", pgas::code::asymmetric_call, "",
     [](pgas::world& world, int* memory) {
       if (world.my_pe() == 0)
         pgas::reduce(world.team(), memory + 50, memory, 20, pgas::op::sum{});
       else
         pgas::barrier(world.team());
     }},
    {"reduce_against_allocate", pgas::code::asymmetric_call, "makes a different",
     [](pgas::world& world, int* memory) {
       if (world.my_pe() == 0)
         pgas::reduce(world.team(), memory + 50, memory, 20, pgas::op::sum{});
       else
         static_cast<void>(world.allocate_bytes(8));
     }},
    {"sum_against_max", pgas::code::asymmetric_call, "PE 0 calls reduce of 20 elements of 4 bytes (sum of",
     [](pgas::world& world, int* memory) {
       if (world.my_pe() == 0)
         pgas::reduce(world.team(), memory + 50, memory, 20, pgas::op::sum{});
       else
         pgas::reduce(world.team(), memory + 50, memory, 20, pgas::op::max{});
     }},
    {"null_on_one", pgas::code::invalid_argument, "broadcast: the destination is null",
     [](pgas::world& world, int* memory) {
       pgas::broadcast(world.team(), world.my_pe() == 1 ? nullptr : memory, memory + 50, 20, 0);
     }},
    {"group_in_another_order", pgas::code::asymmetric_call, "splits by a list of 2 (1 0)",
     [](pgas::world& world, int*) {
       const std::vector<int> members = world.my_pe() == 0 ? std::vector{0, 1} : std::vector{1, 0};
       if (world.my_pe() < 2)
         static_cast<void>(world.team().create_group(members, 5));
       else
         throw pgas::error(pgas::code::asymmetric_call, "splits by a list of 2 (1 0)");  // this PE is not a member
     }},
    {"signal_never_given", pgas::code::wait_timeout, "gave up after 200 ms: the word at",
     [](pgas::world& world, int* memory) {
       auto* const words = reinterpret_cast<pgas::signal_t*>(memory);
       pgas::stream on(world);
       const std::vector<int> zeros(20);
       if (world.my_pe() != 0) throw pgas::error(pgas::code::wait_timeout, "gave up after 200 ms: the word at");
       pgas::put(world, memory, zeros.data(), zeros.size(), 0);
       pgas::signal_take(world.team(), on, words, 1, std::chrono::milliseconds(200));
       try {
         on.synchronize();
       } catch (const pgas::error& said) {
         if (said.pe() == 1) throw;
       }
     }},
    {"zeros_on_one", pgas::code::asymmetric_call, "of zeros",
     [](pgas::world& world, int*) {
       const auto how = world.my_pe() == 0 ? pgas::initialize::zero : pgas::initialize::no;
       static_cast<void>(world.allocate_bytes(100, 1, 16, how));
     }},
};

int run(const mode& wanted) {
  pgas::world world = pgas::world::join();
  const auto memory = world.allocate<int>(200);
  try {
    world.barrier_all();  // the other PEs can continue and fail before this PE returns
    wanted.call(world, memory.data());
    std::printf("PE %d: no error\n", world.my_pe());
  } catch (const pgas::error& said) {
    std::printf("PE %d: %s\n", world.my_pe(), said.what());
    if (said.code() == wanted.expected && std::strstr(said.what(), wanted.words) != nullptr) return 0;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const mode& each : modes)
    if (each.name == name) return run(each);
  std::fprintf(stderr, "no mode '%s'\n", argc > 1 ? argv[1] : "");
  return 2;
}
