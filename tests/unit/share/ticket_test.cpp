// Tickets as text: decoding gives the same ticket, and every change of the text is detected.
#include "host/share/ticket.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>

#include "code_of.hpp"
#include "common/process_identity.hpp"

namespace {

using pgas::code;
using namespace pgas::detail;
using pgas_test::code_of;

ticket sample(std::size_t payload = 24) {
  ticket result;
  result.kind = ticket_kind::timeline;
  result.id = 0x1234'5678'9abc'def0;
  result.secret = random_bits();
  result.exporter = this_process("@pgas-share-4711-0123");
  result.expires = 1'900'000'000'000;
  result.opens = 3;
  result.user = 1000;
  for (std::size_t i = 0; i < payload; ++i) result.payload.push_back(static_cast<std::byte>(i * 7));
  return result;
}

void expect_same(const ticket& a, const ticket& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.secret, b.secret);
  EXPECT_EQ(a.exporter.host, b.exporter.host);
  EXPECT_EQ(a.exporter.machine, b.exporter.machine);
  EXPECT_EQ(a.exporter.pid, b.exporter.pid);
  EXPECT_EQ(a.exporter.start, b.exporter.start);
  EXPECT_EQ(a.exporter.uid, b.exporter.uid);
  EXPECT_EQ(a.exporter.socket, b.exporter.socket);
  EXPECT_EQ(a.expires, b.expires);
  EXPECT_EQ(a.opens, b.opens);
  EXPECT_EQ(a.user, b.user);
  EXPECT_EQ(a.payload, b.payload);
  EXPECT_EQ(a.description, b.description);
}

TEST(Ticket, ComesBackFromItsText) {
  for (std::size_t payload : {0u, 1u, 2u, 3u, 100u}) {
    const ticket result = sample(payload);
    expect_same(decode(encode(result)), result);
    expect_same(decode(" \n" + encode(result) + "\r\n"), result);
  }
}

TEST(Ticket, CarriesADescriptionAndItsCodeCoversIt) {
  ticket result = sample();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, ticket::max_description}) {
    result.description.assign(bytes, 'd');
    result.description.back() = '\0';
    const std::string text = encode(result);
    EXPECT_LE(text.size(), ticket::max_text);
    const ticket back = decode(text + "\n");
    expect_same(back, result);
    ticket altered = back;
    altered.description[0] = 'e';
    EXPECT_NE(decode(encode(altered)).key, back.key);
  }
  result.description += 'x';
  EXPECT_EQ(code_of([&] { static_cast<void>(encode(result)); }), code::invalid_argument);
}

TEST(Ticket, IsShortPrintableText) {
  ticket largest = sample(ticket::max_payload);
  largest.exporter.host = std::string(300, 'h');
  largest.exporter.socket = std::string(ticket::max_socket_bytes, 's');
  const std::string text = encode(largest);
  EXPECT_LE(text.size(), ticket::max_plain_text);
  EXPECT_EQ(decode(text).exporter.host.size(), ticket::max_host_bytes);
  for (const char c : text)
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.');
}

TEST(Ticket, RefusesWhatDoesNotFit) {
  EXPECT_EQ(code_of([] { static_cast<void>(encode(sample(ticket::max_payload + 1))); }), code::invalid_argument);
  ticket far_away = sample();
  far_away.exporter.socket.assign(ticket::max_socket_bytes + 1, 's');
  EXPECT_EQ(code_of([&] { static_cast<void>(encode(far_away)); }), code::invalid_argument);
}

TEST(Ticket, EveryFlippedBitOfEveryCharacterIsFound) {
  for (std::size_t payload : {0u, 1u, 2u}) {  // the three cases in which the last digit has unused bits
    const std::string text = encode(sample(payload));
    for (std::size_t at = 0; at < text.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        EXPECT_EQ(code_of([&] { static_cast<void>(decode(changed)); }), code::handle_invalid) << at << " " << bit;
      }
  }
}

TEST(Ticket, EveryOtherCharacterIsFound) {
  const std::string text = encode(sample());
  for (std::size_t at = 0; at < text.size(); at += 5)
    for (int c = 0; c < 256; ++c) {
      std::string changed = text;
      changed[at] = static_cast<char>(c);
      if (changed == text) continue;
      EXPECT_EQ(code_of([&] { static_cast<void>(decode(changed)); }), code::handle_invalid) << at << " " << c;
    }
}

TEST(Ticket, EveryTruncationAndExtensionIsFound) {
  const std::string text = encode(sample());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(code_of([&] { static_cast<void>(decode(std::string_view(text).substr(0, length))); }),
              code::handle_invalid)
        << length;
  for (const char* more : {"A", "AA", "AAA", "AAAA", "x.", " A"})
    EXPECT_EQ(code_of([&] { static_cast<void>(decode(text + more)); }), code::handle_invalid) << more;
  EXPECT_EQ(code_of([&] { static_cast<void>(decode(text + text)); }), code::handle_invalid);
}

TEST(Ticket, RandomTextIsRefused) {
  std::mt19937 random(4711);
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  for (int i = 0; i < 2000; ++i) {
    std::string text = i % 2 == 0 ? "pgas2." : "";
    const std::size_t length = random() % 1100;
    for (std::size_t k = 0; k < length; ++k) text += alphabet[random() % alphabet.size()];
    EXPECT_EQ(code_of([&] { static_cast<void>(decode(text)); }), code::handle_invalid) << text;
  }
}

TEST(Ticket, ContradictionsAreRefusedThoughTheCodeFits) {
  const auto refused = [](auto change) {
    ticket result = sample();
    change(result);
    return code_of([&] { static_cast<void>(decode(encode(result))); }) == code::handle_invalid;
  };
  EXPECT_TRUE(refused([](ticket& t) { t.id = 0; }));
  EXPECT_TRUE(refused([](ticket& t) { t.exporter.pid = 0; }));
  EXPECT_TRUE(refused([](ticket& t) { t.exporter.pid = -1; }));
  EXPECT_TRUE(refused([](ticket& t) { t.opens = -1; }));
  EXPECT_TRUE(refused([](ticket& t) { t.expires = -1; }));
  EXPECT_TRUE(refused([](ticket& t) { t.kind = static_cast<ticket_kind>(77); }));
}

TEST(Ticket, MessagesSayWhatIsWrong) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(decode(text));
    } catch (const pgas::error& failure) {
      return failure.what();
    }
    return "";
  };
  const std::string text = encode(sample());
  EXPECT_NE(message("").find("is empty"), std::string::npos);
  EXPECT_NE(message("hello").find("is not a ticket of pgas"), std::string::npos);
  EXPECT_NE(message("pgas1." + text.substr(6)).find("another version"), std::string::npos);
  EXPECT_NE(message(text.substr(0, text.size() - 10)).find("cut off"), std::string::npos);
}

TEST(Ticket, NamesThisProcess) {
  const ticket_exporter self = this_process("@x");
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_EQ(self.uid, ::geteuid());
  EXPECT_EQ(self.start, process_start(::getpid()));
  EXPECT_NE(self.start, 0u);
  EXPECT_TRUE(still_runs(self.pid, self.start));
  EXPECT_FALSE(still_runs(self.pid, self.start + 1));
  EXPECT_EQ(self.machine, this_machine());
  EXPECT_NE(name_of(self).find(std::to_string(::getpid())), std::string::npos);
}

TEST(Ticket, CodesDependOnSecretRoleAndParts) {
  const bits128 secret = random_bits();
  const bits128 other = random_bits();
  const pgas::blob part{std::byte{1}, std::byte{2}};
  const pgas::blob longer{std::byte{1}, std::byte{2}, std::byte{0}};
  EXPECT_EQ(code_over(secret, 'i', {part, longer}), code_over(secret, 'i', {part, longer}));
  EXPECT_NE(code_over(secret, 'i', {part}), code_over(secret, 'e', {part}));
  EXPECT_NE(code_over(secret, 'i', {part}), code_over(other, 'i', {part}));
  EXPECT_NE(code_over(secret, 'i', {part}), code_over(secret, 'i', {longer}));
}

}  // namespace
