#include "device/list_copies.hpp"

#include "device/both_backends/execute_operation.hpp"
#include "device/cpu/host_stream.hpp"

namespace pgas::detail {

void copy_list_on_host(void* stream, const copy_list& list) {
  list_request request;
  request.list = list;
  const auto copies = [request] { execute_list(request, this_thread{}, {0, 1}); };
  if (stream == nullptr) return copies();
  static_cast<host_stream*>(stream)->run(copies, host_stream::place::worker);
}

}  // namespace pgas::detail
