/// @file
/// Shared by the C functions of pgas/sharing.h: converts errors to numbers with a text for each thread, and arguments
/// of C to arguments of C++.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "pgas/error.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/sharing.h"
#include "pgas/timeline.hpp"

struct pgas_timeline {
  pgas::timeline is;
};

namespace pgas::sharing_c {

/// The text of pgas_sharing_error() on this thread.
inline std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// Runs `work`, which may throw, and returns the status.
template <class Work>
int status_of(Work&& work) noexcept {
  try {
    work();
    return 0;
  } catch (const error& failure) {
    last_error() = failure.what();
    return static_cast<int>(failure.code());
  } catch (const std::bad_alloc&) {
    last_error().clear();
    return static_cast<int>(code::out_of_memory);
  } catch (const std::exception& failure) {
    last_error() = failure.what();
    return static_cast<int>(code::system);
  }
}

inline void need(bool given, const char* what) {
  if (!given) throw error(code::invalid_argument, std::string(what) + " is null");
}

inline memory_place place_of(int place) {
  if (place < PGAS_PLACE_HOST)
    throw error(code::invalid_argument,
                "place " + std::to_string(place) + " is neither PGAS_PLACE_HOST nor the number of a GPU");
  return {place};
}

/// Limits lifetimes and timeouts. A time that no clock can express counts as unlimited.
inline std::int64_t cut(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, 1u << 30));
}

inline ticket_options options_of(const pgas_ticket_options* options) {
  ticket_options wanted;
  if (options == nullptr) return wanted;
  wanted.lifetime = std::chrono::seconds(cut(options->lifetime_s));
  wanted.opens = options->opens;
  if (options->user >= 0) wanted.user = static_cast<uid_t>(options->user);
  if (options->ready != nullptr) wanted.ready = &options->ready->is;
  if (options->read_only != 0) wanted.importers = access::read_only;
  return wanted;
}

/// Converts a timeout of C, which may be PGAS_FOREVER.
inline std::chrono::milliseconds wait_of(std::uint64_t timeout_ms) {
  return timeout_ms == PGAS_FOREVER ? timeline::forever : std::chrono::milliseconds(cut(timeout_ms));
}

inline open_options options_of(int place, std::uint64_t timeout_ms) {
  open_options options;
  options.timeout = std::chrono::milliseconds(cut(timeout_ms));
  if (place != PGAS_PLACE_ANY) options.place = place_of(place);
  return options;
}

/// Runs `work` with the object of the handle, and returns the status.
template <class Handle, class Work>
int status_with(Handle* handle, const char* name, const Work& work) noexcept {
  return status_of([&] {
    need(handle != nullptr, name);
    work(handle->is);
  });
}

/// A ticket as text for C.
template <class Handle>
int ticket_of(Handle* handle, const pgas_ticket_options* options, char* text, const char* name) noexcept {
  return status_with(handle, name, [&](auto& what) {
    need(text != nullptr, "the room for the ticket");
    const std::string made = what.ticket(options_of(options));
    std::memcpy(text, made.c_str(), made.size() + 1);
  });
}

}  // namespace pgas::sharing_c
