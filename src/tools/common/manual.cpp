// The manual page of a command, in the macros of man(7).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/common/command.hpp"
#include "tools/common/text.hpp"

namespace pgas::tools {

namespace {

/// Escapes a text for roff, so that no character starts a roff command, and so that a hyphen can be copied to a shell.
/// Quotes are replaced by their roff names, because the text can become an argument of a macro.
std::string escaped(std::string_view text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '"': out += "\\(dq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }

/// Prints words in capitals as values.
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

/// Breaks the text into lines that fit in an editor.
std::string filled(const std::string& text) {
  constexpr std::size_t room = 72;
  std::string out;
  for (const std::string& line : lines_of(text, room, room)) out += escaped(line) + '\n';
  return out;
}

void print_entry(std::string& out, const std::string& head, const std::string& meaning) {
  out += fmt::format(".TP\n{}\n{}", head, filled(meaning));
}

void print_section(std::string& out, const char* title, const std::vector<entry>& entries) {
  if (entries.empty()) return;
  out += fmt::format(".SH {}\n", title);
  for (const entry& each : entries) print_entry(out, bold(each.word), each.meaning);
}

void print_options(std::string& out, const command& program) {
  out += ".SH OPTIONS\n";
  for (const option& each : program.arguments) print_entry(out, italic(each.names.front()), each.meaning);
  for (const option& each : program.options) {
    std::string head;
    for (const std::string& name : each.names) head += (head.empty() ? "" : ", ") + bold(name);
    if (each.takes_value()) head += ' ' + italic(each.value);
    print_entry(out, head, each.meaning);
  }
}

/// The name of the page. The name of a subcommand contains both words.
std::string page_of(const std::string& name) {
  std::string page = name;
  std::ranges::replace(page, ' ', '-');
  return page;
}

}  // namespace

std::string manual_of(const command& program, const std::string& version) {
  std::string title = page_of(program.name);
  std::string out = fmt::format(".\\\" Printed by {} --man.\n", program.name);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  out += fmt::format(".TH {} 1 \"\" \"pgas {}\" \"pgas\"\n", escaped(title), version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", escaped(page_of(program.name)), escaped(program.says.summary));
  out += ".SH SYNOPSIS\n";
  const char* between = "";
  for (const auto& [name, words] : usage_of(program)) {
    out += fmt::format("{}{} {}\n", between, bold(name), escaped(words));
    between = ".br\n";
  }
  out += ".SH DESCRIPTION\n";
  between = "";
  for (const std::string& paragraph : program.says.paragraphs) {
    out += between + filled(paragraph);
    between = ".PP\n";
  }
  print_options(out, program);
  std::vector<entry> commands;
  for (const command& each : program.commands)
    commands.push_back({last_word_of(each), fmt::format("{}; see {}(1)", each.says.summary, page_of(each.name))});
  print_section(out, "COMMANDS", commands);
  print_section(out, "EXIT STATUS", statuses_of(program));
  print_section(out, "ENVIRONMENT", program.says.variables);
  print_section(out, "EXAMPLES", program.says.examples);
  if (program.says.see_also.empty()) return out;
  out += ".SH SEE ALSO\n";
  for (const std::string& each : program.says.see_also)
    out += fmt::format(".BR {} (1){}\n", escaped(each), &each == &program.says.see_also.back() ? "" : ",");
  return out;
}

}  // namespace pgas::tools
