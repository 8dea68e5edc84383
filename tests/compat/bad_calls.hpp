/// @file
/// Calls that end the program. Each run makes one call, and bad_calls.py makes all runs.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>

struct bad_call {
  const char* name;
  const char* function;  ///< the name of the function in the error
  const char* code;
  void (*call)();
};

/// With the argument `list`, prints the calls. With NAME, makes that call on the last PE, while the other PEs wait.
template <class Begin, class Wait>
int run_bad_calls(int argc, char** argv, const bad_call* calls, std::size_t count, Begin&& is_last, Wait&& wait) {
  for (std::size_t i = 0; argc == 2 && i < count; ++i) {
    if (std::strcmp(argv[1], "list") == 0) std::printf("%s %s %s\n", calls[i].name, calls[i].function, calls[i].code);
    if (std::strcmp(argv[1], calls[i].name) != 0) continue;
    if (is_last())
      calls[i].call();
    else
      wait();
    return 99;  // the call should have ended the process
  }
  return 0;
}
