// The completion of a command in bash 4 and later, with or without the package bash-completion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/command.hpp"

namespace pgas::tools {

namespace {

/// The patterns for the option's names in the `case` of the command's shell function.
std::string patterns_of(const command& program, const option& each) {
  std::string out;
  for (const std::string& name : each.names) out += (out.empty() ? "" : " | ") + quoted(program.name + ' ' + name);
  return out;
}

/// The completion of a word that is the value of an option.
std::string action_for(const option& each) {
  const std::string otherwise = each.may_lack_value() ? "[[ $cur == -* ]] || " : "";
  if (each.takes_file()) return otherwise + "{ _pgas_files; return; }";
  if (each.list) return fmt::format("_pgas_list {}; return", quoted(fmt::format("{}", fmt::join(each.choices, " "))));
  if (!each.choices.empty())
    return fmt::format("_pgas_words {}; return", quoted(fmt::format("{}", fmt::join(each.choices, " "))));
  return otherwise + "return";
}

/// Steps through the words before the cursor: a subcommand, values of options, a program.
std::string steps_of(const command& program) {
  std::string out;
  for (const command& each : program.commands)
    out += fmt::format("      {}) command={} ;;\n", quoted(each.name), quoted(each.name));
  const auto add = [&out](const command& subcommand) {
    for (const option& each : subcommand.options)
      if (each.takes_value() && !each.may_lack_value())
        out += fmt::format("      {}) [[ ${{COMP_WORDS[i + 1]}} != = ]] || ((++i)); ((++i)) ;;\n",
                           patterns_of(subcommand, each));
  };
  add(program);
  for (const command& each : program.commands) add(each);
  if (program.starts_program) {
    out += fmt::format("      {}*) ;;\n", quoted(program.name + " -"));
    out += "      *) _pgas_program \"$i\"; return ;;\n";
  }
  return out;
}

std::string values_of(const command& program) {
  std::string out;
  for (const option& each : program.options)
    if (each.takes_value()) out += fmt::format("    {}) {} ;;\n", patterns_of(program, each), action_for(each));
  for (const command& each : program.commands) out += values_of(each);
  return out;
}

std::string words_of(const command& program) {
  std::vector<std::string> options;
  for (const option& each : program.options) options.insert(options.end(), each.names.begin(), each.names.end());
  std::vector<std::string> words;
  for (const command& each : program.commands) words.push_back(last_word_of(each));
  for (const option& each : program.arguments) words.insert(words.end(), each.choices.begin(), each.choices.end());
  std::string out =
      fmt::format("    {}) options={} words={} ;;\n", quoted(program.name),
                  quoted(fmt::format("{}", fmt::join(options, " "))), quoted(fmt::format("{}", fmt::join(words, " "))));
  for (const command& each : program.commands) out += words_of(each);
  return out;
}

/// Functions that the completions of all tools define in the same way.
constexpr const char* common = R"(
_pgas_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_pgas_list() {
  local head=
  [[ $cur != *,* ]] || head=${cur%,*},
  compopt -o nospace 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -P "$head" -W "$1" -- "${cur##*,}")
}
_pgas_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
)";

constexpr const char* programs = R"(
_pgas_program() {
  if declare -F _command_offset >/dev/null; then _command_offset "$1"; else _pgas_files; fi
}
)";

}  // namespace

std::string bash_completion_of(const command& program) {
  const std::string function = function_of(program);
  std::string out = fmt::format("# Printed by {} --completion bash.\n", program.name);
  out += common + 1;
  if (program.starts_program) out += programs + 1;
  out += fmt::format("{}() {{\n", function);
  out +=
      fmt::format("  local cur=${{COMP_WORDS[COMP_CWORD]}} prev command={} options= words= i\n", quoted(program.name));
  out += "  COMPREPLY=()\n";
  out += "  for ((i = 1; i < COMP_CWORD; ++i)); do\n    case \"$command ${COMP_WORDS[i]}\" in\n";
  out += steps_of(program) + "    esac\n  done\n";
  // bash splits a word at an equals sign.
  out += "  prev=${COMP_WORDS[COMP_CWORD - 1]}\n";
  out += "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n";
  out += "  case \"$command $prev\" in\n" + values_of(program) + "  esac\n";
  out += "  case $command in\n" + words_of(program) + "  esac\n";
  out += "  if [[ $cur == -* ]]; then _pgas_words \"$options\"; ";
  out += program.starts_program ? "else mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\"); fi\n"
                                : "else _pgas_words \"$words\"; fi\n";
  return out + fmt::format("}}\ncomplete -F {} {}\n", function, program.name);
}

}  // namespace pgas::tools
