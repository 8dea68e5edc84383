// pgasrun: starts the PEs of a job on this host and lets them find one another. Needs no MPI and no daemon.
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdio>
#include <exception>

#include "src/tools/pgasrun/options.hpp"
#include "common/descriptors.hpp"

namespace {

constexpr int status_of_no_start = 127;

/// PEs inherit what is set here.
void set_variables(const std::vector<std::string>& variables) {
  for (const std::string& one : variables)
    if (const std::size_t equals = one.find('='); equals != std::string::npos)
      ::setenv(one.substr(0, equals).c_str(), one.c_str() + equals + 1, 1);
}

}  // namespace

int main(int argc, char** argv) {
  pgas::boot::command_line asked = pgas::boot::read_command_line(argc, argv);
  if (asked.status) return *asked.status;
  try {
    set_variables(asked.variables);
    pgas::detail::allow_descriptors_for(asked.job.processes);
    return pgas::boot::job{std::move(asked.job)}.run();
  } catch (const std::exception& e) {
    std::fputs(fmt::format("pgasrun: {}\n", e.what()).c_str(), stderr);  // fmt::print() throws where nobody reads it
    return status_of_no_start;
  }
}
