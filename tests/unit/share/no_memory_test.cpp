// An exporter without memory. This test is a separate program, because it replaces operator new.
#include "no_memory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "comes.hpp"
#include "host/share/export_registration.hpp"
#include "host/share/exporter_connection.hpp"

namespace {

using namespace pgas::detail;

TEST(NoMemory, MemoryThatOthersHaveOpenIsFreedWithoutAnAllocation) {
  auto shared =
      std::make_unique<export_registration>(make_host_memory(1, pgas::access::read_write), ticket_kind::memory);
  const ticket which = decode(shared->make_ticket({}, {}));
  const opened_ticket opened = open_ticket(which, ticket_kind::memory, deadline(std::chrono::seconds(5)));
  no_memory = true;  // the line of the log needs memory, and a destructor must not fail
  shared.reset();
  no_memory = false;
  EXPECT_TRUE(pgas_test::comes([&] { return !opened.connection->alive(); }));
}

}  // namespace
