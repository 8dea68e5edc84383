// The generated texts of a command, with words that contain special characters of shells and roff.
#include <gtest/gtest.h>

#include "tools/common/command.hpp"
#include "tools/common/text.hpp"

namespace {

using namespace pgas::tools;

command nasty() {
  return {
      .name = "a-tool",
      .says = {.summary = "it's a \"tool\"",
               .paragraphs = {".TH is no macro here, nor is 'br; \\fB is no font, ~ and ^ and ` are themselves"},
               .examples = {{"a-tool '*' \\n", "all"}},
               .statuses = {{"0", "well"}, {"1", "not well"}, {"130", "ended"}}},
      .arguments = {},
      .options = {{.names = {"-c", "--colour"},
                   .value = "WHEN",
                   .meaning = "it's [now]: or \\never",
                   .choices = {"now", "never"}},
                  {.names = {"--file"}, .value = "FILE", .meaning = "which"},
                  {.names = {"--bare"}, .value = "", .meaning = "nothing follows"}},
      .commands = {},
  };
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ManualPage, words_are_no_macros) {
  const std::string page = manual_of(nasty(), "1.2.3");
  EXPECT_TRUE(has(
      page, "\n\\&.TH is no macro here, nor is \\(aqbr; \\efB is no font, \\(ti and \\(ha and \\(ga are\nthemselves\n"))
      << page;
  EXPECT_TRUE(has(page, ".TH A\\-TOOL 1 \"\" \"pgas 1.2.3\" \"pgas\"\n")) << page;
  EXPECT_TRUE(has(page, "a\\-tool \\- it\\(aqs a \\(dqtool\\(dq\n")) << page;
  EXPECT_TRUE(has(page, "\\fB\\-c\\fR, \\fB\\-\\-colour\\fR \\fIWHEN\\fR\n")) << page;
}

TEST(Completion, words_stay_in_their_quotes) {
  EXPECT_TRUE(
      has(zsh_completion_of(nasty()), R"('(-c --colour)--colour=[it'\''s \[now\]\: or \\never]:WHEN:(now never)')"))
      << zsh_completion_of(nasty());
  EXPECT_TRUE(has(fish_completion_of(nasty()), R"(-s c -l colour -x -a 'now never' -d 'it\'s [now]: or \\never')"))
      << fish_completion_of(nasty());
  EXPECT_TRUE(has(bash_completion_of(nasty()), "'a-tool -c' | 'a-tool --colour') _pgas_words 'now never'; return ;;"))
      << bash_completion_of(nasty());
}

TEST(Help, statuses_are_in_order) {
  std::string words;
  for (const entry& each : statuses_of(nasty())) words += each.word + ' ';
  EXPECT_EQ(words, "0 1 2 130 ");
}

TEST(Help, long_words_have_their_meaning_below) {
  command subcommand = nasty();
  subcommand.options = {{.names = {"--an-option-with-a-long-name"}, .value = "VALUE", .meaning = "it"}};
  EXPECT_TRUE(has(help_of(subcommand), "\n  --an-option-with-a-long-name VALUE\n                            it\n"))
      << help_of(subcommand);
}

TEST(Text, lines_are_broken_at_blanks_and_indented) {
  EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("one two", 9, 2, 4), "one\n  two");
  EXPECT_EQ(wrapped("incomprehensible", 8, 0), "incompre\nhensible");
  EXPECT_EQ(wrapped("", 8, 0), "");
}

TEST(Text, only_indented_lines_are_fitted) {
  EXPECT_EQ(fitted("NAME=a value that is long\n  a text that is long\n\n  short\n", 12),
            "NAME=a value that is long\n  a text\n  that is\n  long\n\n  short\n");
}

}  // namespace
