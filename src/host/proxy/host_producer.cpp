#include "host/proxy/host_producer.hpp"

#include "device/both_backends/execute_operation.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

namespace {

constexpr std::uint32_t log2_host_commands = 10;
constexpr std::uint32_t log2_host_answers = 6;

}  // namespace

host_producer::host_producer(proxy_thread& through)
    : through_(through), ring_(log2_host_commands, log2_host_answers, true) {
  through_.add_ring(ring_.consumer());
}

void host_producer::address(const context& here, const routes& table) {
  table_ = table;
  table_.ring = ring_.producers();
  here_ = here;
  here_.routes_ = &table_;
  set_team(here_, here_.world());  // set_team() needs the routes
  here_.copy_ = &here_;
}

bool host_producer::execute_operation(operation_request request) {
  const proxy_thread::keep_polling awake(through_);
  request.here = here_;
  try {
    detail::execute_operation(request, this_thread());
  } catch (const thread_ended&) {
    return false;
  }
  return true;
}

bool host_producer::quiet() {
  operation_request request;
  request.what = operation_request::kind::quiet;
  return execute_operation(request);
}

}  // namespace pgas::detail
