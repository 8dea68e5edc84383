// PE 1 aborts the world.
//     aborting busy       the other PEs never call the library again, so the launcher must end them
//     aborting waiting    the other PEs wait, and each gets the reason
#include <unistd.h>

#include <cstdio>
#include <string>

#include "pgas/pgas.hpp"

int main(int argc, char** argv) {
  const bool busy = argc > 1 && std::string(argv[1]) == "busy";
  try {
    pgas::world world = pgas::world::join();
    auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
    world.barrier_all();
    if (world.my_pe() == 1) world.abort("the input file is broken");
    for (int i = 0; busy && i < 60; ++i) sleep(1);
    pgas::wait_until(world, signal.data(), pgas::cmp::ge, 1);
  } catch (const pgas::error& told) {
    const std::string text = told.what();
    const bool right = told.code() == pgas::code::aborted && text.find("the input file is broken") != text.npos;
    if (!right) std::fprintf(stderr, "told otherwise: %s\n", told.what());
    return right ? 0 : 2;
  }
  std::fputs("unharmed\n", stderr);
  return 2;
}
