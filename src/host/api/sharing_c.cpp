// The C functions of pgas/sharing.h.
#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "host/api/c_conversions.hpp"
#include "pgas/error.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/sharing.h"

struct pgas_shared_memory {
  pgas::shared_memory is;
};
struct pgas_opened_memory {
  pgas::opened_memory is;
};

namespace {

using namespace pgas::sharing_c;

pgas::shared_memory_options options_of(unsigned flags) {
  if ((flags & ~unsigned{PGAS_SHARE_READ_ONLY | PGAS_SHARE_WHOLE_BLOCK}) != 0)
    throw pgas::error(pgas::code::invalid_argument,
                      "flags " + std::to_string(flags) + ": PGAS_SHARE_READ_ONLY and PGAS_SHARE_WHOLE_BLOCK are known");
  return {(flags & PGAS_SHARE_READ_ONLY) != 0 ? pgas::access::read_only : pgas::access::read_write,
          (flags & PGAS_SHARE_WHOLE_BLOCK) != 0 ? pgas::whole_block::allow : pgas::whole_block::refuse};
}

}  // namespace

extern "C" {

const char* pgas_sharing_error(void) { return last_error().c_str(); }

int pgas_share_new(int place, size_t bytes, unsigned flags, pgas_shared_memory** memory) {
  return status_of([&] {
    need(memory != nullptr, "pgas_share_new: memory");
    *memory = new pgas_shared_memory{pgas::shared_memory::make(place_of(place), bytes, options_of(flags))};
  });
}

int pgas_share_existing(void* pointer, size_t bytes, unsigned flags, pgas_shared_memory** memory) {
  return status_of([&] {
    need(memory != nullptr, "pgas_share_existing: memory");
    *memory = new pgas_shared_memory{pgas::shared_memory::share(pointer, bytes, options_of(flags))};
  });
}

void* pgas_shared_data(const pgas_shared_memory* memory) { return memory != nullptr ? memory->is.data() : nullptr; }
size_t pgas_shared_size(const pgas_shared_memory* memory) { return memory != nullptr ? memory->is.size() : 0; }

int pgas_shared_ticket(pgas_shared_memory* memory, const pgas_ticket_options* options, char* text) {
  return status_of([&] {
    need(memory != nullptr && text != nullptr, "pgas_shared_ticket: memory or text");
    const std::string line = memory->is.ticket(options_of(options));
    std::memcpy(text, line.c_str(), line.size() + 1);
  });
}

int pgas_shared_revoke(pgas_shared_memory* memory) {
  return status_of([&] {
    need(memory != nullptr, "pgas_shared_revoke: memory");
    memory->is.revoke();
  });
}

int pgas_shared_openers(const pgas_shared_memory* memory, pgas_opener* list, size_t room, size_t* count) {
  return status_of([&] {
    need(memory != nullptr && count != nullptr && (list != nullptr || room == 0), "pgas_shared_openers: an argument");
    const std::vector<pgas::opener> all = memory->is.opened_by();
    for (std::size_t i = 0; i < std::min(room, all.size()); ++i) {
      const auto since = all[i].since.time_since_epoch();
      list[i] = {all[i].pid, all[i].uid, std::chrono::duration_cast<std::chrono::seconds>(since).count()};
    }
    *count = all.size();
  });
}

void pgas_shared_free(pgas_shared_memory* memory) { delete memory; }

int pgas_open_memory(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened) {
  return status_of([&] {
    need(ticket != nullptr && opened != nullptr, "pgas_open_memory: ticket or opened");
    *opened = new pgas_opened_memory{pgas::opened_memory::open(ticket, options_of(place, timeout_ms))};
  });
}

int pgas_open_memory_unready(const char* ticket, int place, uint64_t timeout_ms, pgas_opened_memory** opened) {
  return status_of([&] {
    need(ticket != nullptr && opened != nullptr, "pgas_open_memory_unready: ticket or opened");
    pgas::open_options options = options_of(place, timeout_ms);
    options.wait_until_ready = false;
    *opened = new pgas_opened_memory{pgas::opened_memory::open(ticket, options)};
  });
}

int pgas_opened_has_timeline(const pgas_opened_memory* memory) {
  return memory != nullptr && memory->is.has_timeline() ? 1 : 0;
}

int pgas_opened_wait(const pgas_opened_memory* memory, void* stream) {
  return status_of([&] {
    need(memory != nullptr, "pgas_opened_wait: memory");
    memory->is.wait(stream);
  });
}

int pgas_opened_wait_host(const pgas_opened_memory* memory, uint64_t timeout_ms) {
  return status_of([&] {
    need(memory != nullptr, "pgas_opened_wait_host: memory");
    memory->is.wait_host(wait_of(timeout_ms));
  });
}

void* pgas_opened_data(const pgas_opened_memory* memory) { return memory != nullptr ? memory->is.data() : nullptr; }
size_t pgas_opened_size(const pgas_opened_memory* memory) { return memory != nullptr ? memory->is.size() : 0; }

int pgas_opened_read_only(const pgas_opened_memory* memory) {
  return memory == nullptr || memory->is.access() == pgas::access::read_only ? 1 : 0;
}

pid_t pgas_opened_exporter(const pgas_opened_memory* memory) {
  return memory != nullptr ? memory->is.exporter().pid : 0;
}

int pgas_opened_check(const pgas_opened_memory* memory) {
  return status_of([&] {
    need(memory != nullptr, "pgas_opened_check: memory");
    memory->is.check();
  });
}

void pgas_opened_close(pgas_opened_memory* memory) { delete memory; }

}  // extern "C"
