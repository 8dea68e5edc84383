/// @file
/// The common parts of all tools: help, errors, and the output of --man and --completion.
///
///     CLI::App app("", "pgas-why");
///     app.add_option("--watch", seconds, "look again after this time")->type_name("SECONDS");
///     pgas::tools::set_page(app, about());
///     try { app.parse(argc, argv); } catch (const CLI::ParseError& stop) { return pgas::tools::end_with(app, stop); }
#pragma once

#include <string>
#include <string_view>

#include "tools/common/command.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace pgas::tools {

/// Adds the page and the options that all tools have. Called for a tool, and for each subcommand of the tool, after its
/// own options were added. An option's type name is the name of its value. If the check of an option has a description
/// with words in braces, as CLI::IsMember has, completions offer these words.
void set_page(CLI::App& app, page says);

/// Prints the reason why the parsing of the command line ended. Returns the exit status.
[[nodiscard]] int end_with(const CLI::App& app, const CLI::ParseError& stop);

/// Creates or replaces a file. Returns the reason of a failure, with the name of the file; empty on success.
[[nodiscard]] std::string write_file(const std::string& path, std::string_view content);
/// Like write_file(). The name "-" is standard output.
[[nodiscard]] std::string write_output(const std::string& path, std::string_view content);

}  // namespace pgas::tools
