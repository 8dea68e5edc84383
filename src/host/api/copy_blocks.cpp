#include "pgas/copy_blocks.hpp"

#include <string>

#include "device/list_copies.hpp"
#include "pgas/error.hpp"

namespace pgas {

void copy_blocks(memory_place place, void* stream, const copy_list& list, unsigned most_blocks) {
  if (list.size() == 0 || (list.has_pages() && list.page_bytes() == 0)) return;
  const auto refuse_null = [](const void* memory, const char* role) {
    if (memory == nullptr)
      throw error(code::invalid_argument,
                  std::string("copy_blocks: ") + role + " is null: pass its address, or no blocks");
  };
  if (list.has_pages()) {
    refuse_null(list.to_pages().base, "the base of the destination's pages");
    refuse_null(list.from_pages().base, "the base of the source's pages");
  } else {
    refuse_null(list.blocks(), "the array of blocks");
  }
  if (place == memory_place::host()) return detail::copy_list_on_host(stream, list);
  detail::copy_list_on_gpu(place.ordinal, stream, list, most_blocks);
}

}  // namespace pgas
