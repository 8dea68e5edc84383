/// @file
/// The description of a command, from which its help, its manual page and its completions are generated.
#pragma once

#include <string>
#include <vector>

namespace pgas::tools {

/// A word and what it means.
struct entry {
  std::string word;
  std::string meaning;
};

/// The texts of a command besides its options. Plain text; a meaning begins with a small letter and has no full stop.
struct page {
  std::string summary = {};                  ///< what it does, in a line
  std::string usage = {};                    ///< what follows its name; empty: as its options and arguments are
  std::vector<std::string> paragraphs = {};  ///< what else there is to know; at least one
  std::vector<entry> examples = {};          ///< at least one
  std::vector<entry> statuses = {};          ///< exit statuses, but that of a wrong command line
  std::vector<entry> variables = {};         ///< of the environment
  std::vector<std::string> see_also = {};    ///< other manual pages
};

/// An option, or an argument that has a place.
struct option {
  std::vector<std::string> names = {};  ///< such as -e and --bytes; of an argument, its name alone
  std::string value = {};    ///< what follows, such as BYTES; [BYTES] where it may be missing; empty: nothing
  std::string meaning = {};  ///< with the default
  std::vector<std::string> choices = {};  ///< all that it may be, or all that has a name; empty: anything
  bool list = false;                      ///< takes several choices, with commas
  bool many = false;                      ///< an argument that may be there several times

  [[nodiscard]] bool takes_value() const { return !value.empty(); }
  [[nodiscard]] bool may_lack_value() const { return value.starts_with('['); }
  [[nodiscard]] bool takes_file() const { return value == "FILE" || value == "[FILE]"; }
};

struct command {
  std::string name = {};  ///< pgas-perf; of a command of it: pgas-perf map
  page says = {};
  std::vector<option> arguments = {};
  std::vector<option> options = {};
  std::vector<command> commands = {};
  bool starts_program = false;  ///< the first word that is no option begins another program's command line
};

/// The exit status of all tools for a wrong command line.
inline constexpr int wrong_command_line = 2;

/// The word that says this status, and its meaning, behind those of the page.
[[nodiscard]] std::vector<entry> statuses_of(const command& of);
/// Command lines: the name, and what follows it. First its own, then those of its commands.
[[nodiscard]] std::vector<entry> usage_of(const command& of);
/// For --help: lines of at most usual_width columns.
[[nodiscard]] std::string help_of(const command& of);
/// For --man: a page of section 1, in the macros of man(7). `version` is that of pgas.
[[nodiscard]] std::string manual_of(const command& of, const std::string& version);
/// For --completion: what the shell reads.
[[nodiscard]] std::string bash_completion_of(const command& of);
[[nodiscard]] std::string zsh_completion_of(const command& of);
[[nodiscard]] std::string fish_completion_of(const command& of);

/// The name with - as _, and _ before it: a function of a shell.
[[nodiscard]] std::string function_of(const command& of);
/// The last word of the name.
[[nodiscard]] std::string last_word_of(const command& of);
/// In single quotes, as bash and zsh read them.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace pgas::tools
