/// @file
/// pgas-info: what this library is, which options it takes and what they are set to, what its error codes mean, and how
/// the PEs of a job reach one another.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "documents.hpp"
#include "host/config/text.hpp"
#include "pgas/error.hpp"
#include "pgas/world.hpp"

namespace {

constexpr std::string_view about = "pgas " INFO_VERSION
                                   "\n"
                                   "CUDA " INFO_CUDA
                                   "\n"
                                   "PMIx " INFO_PMIX "\n";

std::string configuration(bool markdown) {
  if (markdown) return pgas::info::config_markdown();
  const auto now = pgas::config_detail::read(pgas::config_detail::environment::of_process());
  std::string text = pgas::config_detail::config_text(now);
  for (const pgas::config_detail::remark& r : now.remarks) text += r.text + '\n';
  return text;
}

/// Collective: one line for each other PE.
std::string peers() {
  const pgas::world world = pgas::world::join();
  std::string text;
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    const pgas::pe_info& other = world.pe(pe);
    const std::string_view how = pe == world.my_pe() ? std::string_view("itself") : std::string_view(other.route);
    text += fmt::format("PE {} -> PE {} (host {}, {}): {}\n", world.my_pe(), pe, other.host, other.device, how);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Shows the version of pgas, its options with their values now, its error codes, and how PEs reach one another."};
  bool config = false;
  bool errors = false;
  bool markdown = false;
  bool with_peers = false;
  app.add_flag("--config", config, "list the options, their values now and where each comes from");
  app.add_flag("--errors", errors, "list the error codes with cause and fix");
  app.add_flag("--peers", with_peers, "join, with whatever started it, and list how this PE reaches the others");
  app.add_flag("--markdown", markdown, "print the list as a page of docs/");
  app.set_version_flag("--version", INFO_VERSION);
  CLI11_PARSE(app, argc, argv);
  try {
    if (config) fmt::print("{}", configuration(markdown));
    if (errors) fmt::print("{}", markdown ? pgas::info::errors_markdown() : pgas::info::errors_text());
    if (with_peers) fmt::print("{}", peers());
    if (!config && !errors && !with_peers) fmt::print("{}", about);
  } catch (const pgas::error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
