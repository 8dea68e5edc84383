/// @file
/// The description of a command, from which its help, its manual page and its completions are generated.
#pragma once

#include <string>
#include <vector>

namespace pgas::tools {

/// A word and its meaning.
struct entry {
  std::string word;
  std::string meaning;
};

/// The texts of a command, except its options. All texts are plain text. entry::meaning begins with a small letter and
/// has no full stop.
struct page {
  std::string summary = {};  ///< what the command does, in one line
  /// The words after the name of the command; empty: derived from the options and arguments of the command.
  std::string usage = {};
  std::vector<std::string> paragraphs = {};  ///< further information; at least one paragraph
  std::vector<entry> examples = {};          ///< at least one
  std::vector<entry> statuses = {};          ///< exit statuses, except the status for a wrong command line
  std::vector<entry> variables = {};         ///< environment variables
  std::vector<std::string> see_also = {};    ///< other manual pages
};

/// An option or a positional argument.
struct option {
  /// The option's names, such as -e and --bytes; for a positional argument, its name.
  std::vector<std::string> names = {};
  std::string value = {};                 ///< the value, such as BYTES, or [BYTES] if it is optional; empty: no value
  std::string meaning = {};               ///< includes the default
  std::vector<std::string> choices = {};  ///< the values that completions offer; empty: any value is allowed
  bool list = false;                      ///< whether the option accepts several choices, separated by commas
  bool many = false;                      ///< whether this is a positional argument that may be repeated

  [[nodiscard]] bool takes_value() const { return !value.empty(); }
  [[nodiscard]] bool may_lack_value() const { return value.starts_with('['); }
  [[nodiscard]] bool takes_file() const { return value == "FILE" || value == "[FILE]"; }
};

struct command {
  std::string name = {};  ///< the name of the command, such as pgas-perf, or of a subcommand, such as pgas-perf map
  page says = {};
  std::vector<option> arguments = {};
  std::vector<option> options = {};
  std::vector<command> commands = {};
  /// Whether the first word that is not an option begins the command line of another program.
  bool starts_program = false;
};

/// The exit status of all tools for a wrong command line.
inline constexpr int wrong_command_line = 2;

/// The exit statuses of the page, and the status for a wrong command line.
[[nodiscard]] std::vector<entry> statuses_of(const command& program);
/// The forms of the command line: the name, and the words after it. The command's own form comes first, and the forms
/// of its subcommands follow.
[[nodiscard]] std::vector<entry> usage_of(const command& program);
/// The text of --help, in lines of at most usual_width columns.
[[nodiscard]] std::string help_of(const command& program);
/// The text of --man: a page of section 1, in the macros of man(7). `version` is the version of pgas.
[[nodiscard]] std::string manual_of(const command& program, const std::string& version);
/// The text of --completion, which the shell reads.
[[nodiscard]] std::string bash_completion_of(const command& program);
[[nodiscard]] std::string zsh_completion_of(const command& program);
[[nodiscard]] std::string fish_completion_of(const command& program);

/// The name of a shell function: the command's name with a leading _, and with _ in place of each -.
[[nodiscard]] std::string function_of(const command& program);
/// The last word of the name.
[[nodiscard]] std::string last_word_of(const command& program);
/// The text in single quotes, as bash and zsh read them.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace pgas::tools
