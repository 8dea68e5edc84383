/// @file
/// Tools for programs that share memory by tickets: a world of one process, files with tickets, and steps at which a
/// test ends the program.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"

namespace examples {

/// A world of this process alone, for its streams and kernel launches.
struct station {
  pgas::world world = pgas::world::join();
  pgas::stream stream{world};
  pgas::launch_config shape{.blocks = 1, .threads = world.heap() == pgas::heap_kind::cuda ? 256U : 1U, .on = &stream};
  pgas::memory_place place =
      world.heap() == pgas::heap_kind::cuda ? pgas::memory_place::gpu(world.device()) : pgas::memory_place::host();
};

/// Writes the lines to a file. Readers find the old file or the complete new file.
inline void write_lines(const std::string& file, const std::vector<std::string>& lines) {
  const std::string unfinished = file + ".new";
  {
    std::ofstream out(unfinished);
    for (const std::string& line : lines) out << line << '\n';
  }
  std::rename(unfinished.c_str(), file.c_str());
}

/// The lines of a file; none if the file does not exist.
[[nodiscard]] inline std::vector<std::string> read_lines(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Whether an error says that the other program has ended, or no longer shares what its ticket opens.
[[nodiscard]] inline bool is_gone(const pgas::error& failed) {
  return failed.code() == pgas::code::peer_lost || failed.code() == pgas::code::handle_invalid ||
         failed.code() == pgas::code::authentication;
}

/// A step of a program. If the environment variable EXAMPLE_DIES_AT is n, step n ends the process by SIGKILL.
inline void step() {
  static const char* const setting = std::getenv("EXAMPLE_DIES_AT");
  static const long last = setting != nullptr ? std::atol(setting) : 0;
  static long count = 0;
  if (++count == last) std::raise(SIGKILL);
}

}  // namespace examples
