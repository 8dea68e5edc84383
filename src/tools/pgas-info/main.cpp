/// @file
/// pgas-info: what this library is, which options it takes and what they are set to, what its error codes mean.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "documents.hpp"
#include "pgas/error.hpp"

namespace {

constexpr std::string_view about = "pgas " INFO_VERSION
                                   "\n"
                                   "CUDA " INFO_CUDA
                                   "\n"
                                   "PMIx " INFO_PMIX "\n";

std::string configuration(bool markdown) {
  if (markdown) return pgas::info::config_markdown();
  const auto now = pgas::config_detail::read(pgas::config_detail::environment::of_process());
  std::string text = pgas::info::config_text(now);
  for (const pgas::config_detail::remark& r : now.remarks) text += r.text + '\n';
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Shows the version of pgas, its options with their values now, and its error codes."};
  bool config = false;
  bool errors = false;
  bool markdown = false;
  app.add_flag("--config", config, "list the options, their values now and where each comes from");
  app.add_flag("--errors", errors, "list the error codes with cause and fix");
  app.add_flag("--markdown", markdown, "print the list as a page of docs/");
  app.set_version_flag("--version", INFO_VERSION);
  CLI11_PARSE(app, argc, argv);
  try {
    if (config) fmt::print("{}", configuration(markdown));
    if (errors) fmt::print("{}", markdown ? pgas::info::errors_markdown() : pgas::info::errors_text());
    if (!config && !errors) fmt::print("{}", about);
  } catch (const pgas::error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
