// The help of a command, and functions that the other texts of a command also use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "tools/common/command.hpp"
#include "tools/common/text.hpp"

namespace pgas::tools {

namespace {

constexpr std::size_t meaning_column = 28;

/// Adds a word with its meaning beside it, or below it if the word is too long.
void add_entry(std::string& out, const std::string& word, const std::string& meaning) {
  std::string line = "  " + word;
  if (line.size() + 2 > meaning_column) {
    out += line + '\n';
    line.clear();
  }
  line.resize(meaning_column, ' ');
  out += line + wrapped(meaning, usual_width, meaning_column, meaning_column) + '\n';
}

void add_section(std::string& out, const char* title, const std::vector<entry>& entries) {
  if (entries.empty()) return;
  out += fmt::format("\n{}:\n", title);
  for (const entry& each : entries) add_entry(out, each.word, each.meaning);
}

void add_options(std::string& out, const char* title, const std::vector<option>& options) {
  std::vector<entry> entries;
  for (const option& each : options) {
    // a positional argument has no value besides its name
    const bool has_value = each.takes_value() && each.names.front().starts_with('-');
    entries.push_back(
        {fmt::format("{}{}{}", fmt::join(each.names, ", "), has_value ? " " : "", has_value ? each.value : ""),
         each.meaning});
  }
  add_section(out, title, entries);
}

}  // namespace

std::vector<entry> statuses_of(const command& program) {
  std::vector<entry> all = program.says.statuses;
  const std::string word = std::to_string(wrong_command_line);
  const auto behind =
      std::ranges::find_if(all, [&](const entry& each) { return each.word.size() > 1 || each.word > word; });
  all.insert(behind, {word, "the command line is wrong"});
  return all;
}

std::vector<entry> usage_of(const command& program) {
  std::string words = "[OPTIONS]";
  for (const option& each : program.arguments)
    words += fmt::format(" [{}{}]", each.names.front(), each.many ? "..." : "");
  std::vector<entry> lines{{program.name, program.says.usage.empty() ? words : program.says.usage}};
  for (const command& each : program.commands) std::ranges::move(usage_of(each), std::back_inserter(lines));
  return lines;
}

std::string help_of(const command& program) {
  std::string out =
      fmt::format("{}: {}\n\n", program.name, wrapped(program.says.summary, usual_width, 2, program.name.size() + 2));
  const char* label = "Usage: ";
  for (const auto& [name, words] : usage_of(program)) {
    out += fmt::format("{}{} {}\n", label, name, words);
    label = "       ";
  }
  for (const std::string& paragraph : program.says.paragraphs) out += '\n' + wrapped(paragraph, usual_width, 0) + '\n';
  add_options(out, "Arguments", program.arguments);
  add_options(out, "Options", program.options);
  std::vector<entry> commands;
  for (const command& each : program.commands) commands.push_back({last_word_of(each), each.says.summary});
  add_section(out, "Commands", commands);
  add_section(out, "Examples", program.says.examples);
  add_section(out, "Exit status", statuses_of(program));
  return out;
}

std::string function_of(const command& program) {
  std::string name = "_" + program.name;
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == ' '; }, '_');
  return name;
}

std::string last_word_of(const command& program) { return program.name.substr(program.name.rfind(' ') + 1); }

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += R"('\'')";
    else
      out += c;
  }
  return out + '\'';
}

}  // namespace pgas::tools
