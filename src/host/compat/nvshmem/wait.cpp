// Functions that wait for words of this PE, and functions that test words of this PE.
#include <fmt/format.h>

#include "host/compat/nvshmem/shared_declarations.hpp"
#include "pgas/stream_wait.hpp"

namespace pgas::compat {

namespace {

detail::word_set set_of(const compat::words& words) {
  if (words.cmp < NVSHMEM_CMP_EQ || words.cmp > NVSHMEM_CMP_GE)
    throw error(code::invalid_argument, fmt::format("comparison {}: not one of NVSHMEM_CMP_*", words.cmp));
  return {datatype_of(words.type),     words.at,    words.count, words.status,
          static_cast<cmp>(words.cmp), words.value, words.values};
}

detail::which which_of(compat::which which) {
  switch (which) {
    case compat::which::all: return detail::which::all;
    case compat::which::any: return detail::which::any;
    case compat::which::some: break;
  }
  return detail::which::some;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

std::uint64_t pgas_nvshmem_wait(compat::words set) {
  return or_global_exit(set.function, [&] {
    set.count = 1;
    set.status = nullptr;
    return detail::wait_word(runtime::instance().world(), set_of(set));
  });
}

std::size_t pgas_nvshmem_wait_set(compat::which which, compat::words set, std::size_t* indices) {
  return or_global_exit(set.function, [&] {
    return detail::wait_words(runtime::instance().world(), set_of(set), which_of(which), indices);
  });
}

std::size_t pgas_nvshmem_test_set(compat::which which, compat::words set, std::size_t* indices) {
  return or_global_exit(set.function, [&] {
    return detail::test_words(runtime::instance().world(), set_of(set), which_of(which), indices);
  });
}

void pgas_nvshmem_wait_on_stream(compat::words set, void* stream) {
  return or_global_exit(set.function, [&] {
    host_call here(compat::on_stream(stream));
    detail::enqueue_wait(here.world(), *here.on(), set_of(set));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
