// The completions of a command in zsh and in fish. Both shells parse options themselves, and need only a list of the
// options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/command.hpp"

namespace pgas::tools {

namespace {

std::string with_backslashes(const std::string& text, std::string_view before) {
  std::string out;
  for (const char c : text) {
    if (before.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Escapes the characters by which zsh's _arguments separates fields.
std::string field(const std::string& text) { return with_backslashes(text, "\\[]:"); }

std::string zsh_action(const option& each) {
  if (each.takes_file()) return "_files";
  const std::string words = fmt::format("{}", fmt::join(each.choices, " "));
  if (words.empty()) return " ";
  return each.list ? "_sequence compadd - " + words : fmt::format("({})", words);
}

/// One line for each name, because long names and short names take values in different forms.
std::string zsh_lines(const option& each) {
  std::string out;
  for (const std::string& name : each.names) {
    std::string spec = fmt::format("({}){}", fmt::join(each.names, " "), name);
    if (each.takes_value()) spec += name.starts_with("--") ? "=" : "+";
    spec += fmt::format("[{}]", field(each.meaning));
    if (each.takes_value())
      spec += fmt::format("{}{}:{}", each.may_lack_value() ? "::" : ":", field(each.value), zsh_action(each));
    out += fmt::format("    {} \\\n", quoted(spec));
  }
  return out;
}

std::string zsh_arguments(const command& program) {
  std::string out = "  _arguments -s -S : \\\n";
  for (const option& each : program.options) out += zsh_lines(each);
  std::vector<std::string> words;
  for (const command& each : program.commands) words.push_back(last_word_of(each));
  for (const option& each : program.arguments) words.insert(words.end(), each.choices.begin(), each.choices.end());
  if (program.starts_program)
    out += "    '(-)1:program:_command_names -e' '*::argument:_normal'\n";
  else if (!words.empty())
    out += fmt::format("    {}\n", quoted(fmt::format("*:word:({})", fmt::join(words, " "))));
  else
    out += "    '*: : '\n";
  return out;
}

/// The text in single quotes, as fish reads them.
std::string in_fish(const std::string& text) { return '\'' + with_backslashes(text, "\\'") + '\''; }

std::string fish_lines(const command& program, const std::string& tool, const std::string& when) {
  const std::string head = fmt::format("complete -c {}{}", tool, when.empty() ? "" : " -n " + in_fish(when));
  std::string out;
  for (const option& each : program.options) {
    out += head;
    for (const std::string& name : each.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    const std::string words = fmt::format("{}", fmt::join(each.choices, " "));
    if (each.takes_file())
      out += " -r -F";
    else if (each.list)
      out += " -x -a " + in_fish(fmt::format("(__fish_complete_list , 'string split \" \" \"{}\"')", words));
    else if (each.takes_value())
      out += " -x" + (words.empty() ? std::string() : " -a " + in_fish(words));
    out += fmt::format(" -d {}\n", in_fish(each.meaning));
  }
  for (const command& each : program.commands)
    out += fmt::format("{} -a {} -d {}\n", head, last_word_of(each), in_fish(each.says.summary));
  for (const option& each : program.arguments)
    if (!each.choices.empty())
      out += fmt::format("{} -a {} -d {}\n", head, in_fish(fmt::format("{}", fmt::join(each.choices, " "))),
                         in_fish(each.names.front()));
  return out;
}

}  // namespace

std::string zsh_completion_of(const command& program) {
  const std::string function = function_of(program);
  std::string out =
      fmt::format("#compdef {}\n# Printed by {} --completion zsh.\n{}() {{\n", program.name, program.name, function);
  for (const command& each : program.commands) {
    out += fmt::format("  local at=${{words[(i){}]}}\n", last_word_of(each));
    out += "  if (( at > 1 && at < CURRENT )); then\n    shift $(( at - 1 )) words\n    (( CURRENT -= at - 1 ))\n";
    out += zsh_arguments(each) + "    return\n  fi\n";
  }
  out += zsh_arguments(program) + "}\n";
  // If zsh loads the file from fpath, it runs the file as the first call of the function. If the shell reads the text
  // by eval, the text only defines the function.
  return out + fmt::format("if [[ $funcstack[1] == {0} ]]; then {0} \"$@\"; else compdef {0} {1}; fi\n", function,
                           program.name);
}

std::string fish_completion_of(const command& program) {
  std::string out = fmt::format("# Printed by {} --completion fish.\ncomplete -c {} -f\n", program.name, program.name);
  std::vector<std::string> commands;
  for (const command& each : program.commands) commands.push_back(last_word_of(each));
  const std::string seen = fmt::format("__fish_seen_subcommand_from {}", fmt::join(commands, " "));
  out += fish_lines(program, program.name, commands.empty() ? "" : "not " + seen);
  for (const command& each : program.commands)
    out += fish_lines(each, program.name, "__fish_seen_subcommand_from " + last_word_of(each));
  if (program.starts_program) {
    std::vector<std::string> with_value;
    for (const option& each : program.options)
      if (each.takes_value()) with_value.insert(with_value.end(), each.names.begin(), each.names.end());
    out += fmt::format("complete -c {} -x -a {}\n", program.name,
                       in_fish(fmt::format("(__fish_complete_subcommand {})", fmt::join(with_value, " "))));
  }
  return out;
}

}  // namespace pgas::tools
