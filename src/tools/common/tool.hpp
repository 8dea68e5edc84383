/// @file
/// The look that all tools have in common: their help, their errors, and what --man and --completion print.
///
///     CLI::App app("", "pgas-why");
///     app.add_option("--watch", seconds, "look again after this time")->type_name("SECONDS");
///     pgas::tools::set_page(app, about());
///     try { app.parse(argc, argv); } catch (const CLI::ParseError& stop) { return pgas::tools::end_with(app, stop); }
#pragma once

#include "tools/common/command.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace pgas::tools {

/// Gives the app its page and the options that all tools have; called after its own were added, for each of its
/// commands, too. An option's type name is its value's name, and the braces in the description of its check are what
/// completions offer: IsMember has them.
void set_page(CLI::App& app, page says);

/// Prints what ended the parsing of the command line. Returns the exit status.
[[nodiscard]] int end_with(const CLI::App& app, const CLI::ParseError& stop);

}  // namespace pgas::tools
