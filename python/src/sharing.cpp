// Python functions that need no world. These functions share memory and timelines by tickets, and copy lists of pages.
#include <nanobind/stl/chrono.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.hpp"
#include "joined_world.hpp"
#include "page_list.hpp"
#include "pgas/copy_blocks.hpp"
#include "pgas/shared_memory.hpp"
#include "pgas/timeline.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pgas::python {
namespace {

memory_place place_of(std::optional<int> gpu) { return gpu ? memory_place::gpu(*gpu) : memory_place::host(); }

shared_memory_options options_of(bool read_only, bool whole_block) {
  return {read_only ? access::read_only : access::read_write, whole_block ? whole_block::allow : whole_block::refuse};
}

ticket_options options_of(std::optional<double> lifetime, nb::handle opens, nb::handle user) {
  ticket_options made;
  if (lifetime) {
    if (!(*lifetime > 0) || !std::isfinite(*lifetime))
      refuse("lifetime is a number of seconds above 0, not " + nb::cast<std::string>(nb::str(nb::float_(*lifetime))) +
             ": omit it for a ticket that is valid until it is revoked");
    made.lifetime = milliseconds_of(*lifetime, "lifetime");
  }
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (!opens.is_none()) {
    const std::uint64_t number = word_of(opens, "opens");
    if (number == 0) refuse("opens is a number of processes, 1 or more, not 0: omit it for an unlimited ticket");
    made.opens = static_cast<int>(std::min(number, most));
  }
  if (!user.is_none()) {
    const std::uint64_t number = word_of(user, "user");
    if (number >= std::numeric_limits<uid_t>::max()) refuse("user " + std::to_string(number) + ": there is none");
    made.user = static_cast<uid_t>(number);
  }
  return made;
}

open_options opening(double timeout, nb::handle device) {
  open_options made;
  made.timeout = milliseconds_of(timeout, "timeout");
  if (device.is(nb::str("host")) || nb::isinstance<nb::str>(device))
    made.place = memory_place::host();
  else if (!device.is_none())
    made.place = memory_place::gpu(nb::cast<int>(device));
  return made;
}

nb::list list_of(const std::vector<opener>& openers) {
  nb::list made;
  for (const opener& one : openers)
    made.append(nb::make_tuple(one.pid, one.uid, std::chrono::duration<double>(one.since.time_since_epoch()).count()));
  return made;
}

/// Memory that this process shares. The arrays keep the memory alive.
struct exported {
  shared_memory of;
  int gpu = -1;
};
/// Memory that this process has opened.
struct imported {
  opened_memory of;
};

void bind_memory_sharing(nb::module_& m) {
  nb::class_<exported>(m, "SharedMemory", nb::is_weak_referenceable())
      .def_static(
          "make",
          [](std::optional<int> gpu, std::size_t bytes, bool read_only) {
            const gil_released free;
            return std::make_shared<exported>(
                exported{shared_memory::make(place_of(gpu), bytes, options_of(read_only, false)), gpu.value_or(-1)});
          },
          "gpu"_a, "bytes"_a, "read_only"_a)
      .def_static(
          "share",
          [](std::uintptr_t data, std::size_t bytes, std::optional<int> gpu, bool read_only, bool whole_block) {
            const gil_released free;
            return std::make_shared<exported>(
                exported{shared_memory::share(reinterpret_cast<void*>(data), bytes, options_of(read_only, whole_block)),
                         gpu.value_or(-1)});
          },
          "ptr"_a, "bytes"_a, "gpu"_a, "read_only"_a, "whole_block"_a)
      .def_prop_ro(
          "memory",
          [](const std::shared_ptr<exported>& s) { return plain_memory(s, s->of.data(), s->of.size(), s->gpu); })
      .def(
          "ticket",
          [](exported& s, std::optional<double> lifetime, nb::handle opens, nb::handle user, bool read_only,
             const nb::bytes& description) {
            ticket_options options = options_of(lifetime, opens, user);
            if (read_only) options.importers = access::read_only;
            options.description.assign(description.c_str(), description.size());
            const gil_released free;
            return s.of.ticket(options);
          },
          "lifetime"_a.none() = nb::none(), "opens"_a.none() = nb::none(), "user"_a.none() = nb::none(),
          "read_only"_a = false, "description"_a = nb::bytes("", 0))
      .def("revoke", [](exported& s) { s.of.revoke(); })
      .def("opened_by", [](const exported& s) { return list_of(s.of.opened_by()); });
  nb::class_<imported>(m, "OpenedMemory", nb::is_weak_referenceable())
      .def_static(
          "open",
          [](const std::string& ticket, double timeout, nb::handle device) {
            const open_options options = opening(timeout, device);
            return abandonable([ticket, options] {
              const auto made = std::make_shared<imported>();
              made->of = opened_memory::open(ticket, options);
              return made;
            });
          },
          "ticket"_a, "timeout"_a, "device"_a.none())
      .def("memory",
           [](const std::shared_ptr<imported>& s) {
             return plain_memory(s, s->of.data(), s->of.size(), s->of.place().ordinal,
                                 s->of.access() == access::read_only);
           })
      .def_prop_ro("description",
                   [](const imported& s) { return nb::bytes(s.of.description().data(), s.of.description().size()); })
      .def_prop_ro("exporter",
                   [](const imported& s) {
                     const memory_exporter& from = s.of.exporter();
                     return nb::make_tuple(from.host, from.pid, from.uid);
                   })
      .def_prop_ro("alive", [](const imported& s) { return s.of.alive(); })
      .def("check", [](const imported& s) { s.of.check(); });
}

/// A number of seconds without trailing zeros.
std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Waits in steps, and checks for Unix signals between the steps.
void wait_host(const timeline& of, nb::handle wanted, std::optional<double> timeout) {
  using clock = std::chrono::steady_clock;
  const std::uint64_t value = word_of(wanted, "wait: value");
  const auto end = clock::now() + milliseconds_of(timeout.value_or(0), "wait: timeout");
  const bool interruptible_here = on_main_thread();
  const gil_released free;
  for (;;) {
    auto step = std::chrono::milliseconds(20);
    bool last = false;
    if (timeout) {
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
      last = rest <= step;
      step = std::max(std::min(step, rest), std::chrono::milliseconds(0));
    }
    try {
      of.wait_host(value, step);
      return;
    } catch (const error& e) {
      if (e.code() != code::wait_timeout) throw;
      if (last)
        throw error(code::wait_timeout, "Timeline.wait: the value is " + std::to_string(of.query()) + " after " +
                                            seconds_text(*timeout) + " s, and did not become >= " +
                                            std::to_string(value) + ": look at the process that should record it");
    }
    if (interruptible_here) check_signals();
  }
}

void* stream_of(nb::handle on) {
  return on.is_none() ? nullptr : reinterpret_cast<void*>(nb::cast<std::uintptr_t>(on));
}

void bind_timelines(nb::module_& m) {
  nb::class_<timeline>(m, "Timeline", nb::is_weak_referenceable())
      .def_static(
          "make",
          [](std::optional<int> gpu) {
            const gil_released free;
            return timeline::make(place_of(gpu));
          },
          "gpu"_a)
      .def_static(
          "open",
          [](const std::string& ticket, double timeout, nb::handle device) {
            const open_options options = opening(timeout, device);
            return abandonable([ticket, options] { return timeline::open(ticket, options); });
          },
          "ticket"_a, "timeout"_a, "device"_a.none())
      .def(
          "ticket",
          [](timeline& t, std::optional<double> lifetime, nb::handle opens, nb::handle user) {
            const ticket_options options = options_of(lifetime, opens, user);
            const gil_released free;
            return t.ticket(options);
          },
          "lifetime"_a.none() = nb::none(), "opens"_a.none() = nb::none(), "user"_a.none() = nb::none())
      .def("revoke", &timeline::revoke)
      .def("opened_by", [](const timeline& t) { return list_of(t.opened_by()); })
      .def(
          "record",
          [](timeline& t, nb::handle on, nb::handle number) {
            void* const stream = stream_of(on);
            const std::uint64_t value = word_of(number, "record: value");
            const gil_released free;
            t.record(stream, value);
          },
          "stream"_a.none(), "value"_a)
      .def(
          "set", [](timeline& t, nb::handle value) { t.set(word_of(value, "set: value")); }, "value"_a)
      .def(
          "wait",
          [](timeline& t, nb::handle on, nb::handle number) {
            void* const stream = stream_of(on);
            const std::uint64_t value = word_of(number, "wait: value");
            const gil_released free;
            t.wait(stream, value);
          },
          "stream"_a.none(), "value"_a)
      .def("wait_host", &wait_host, "value"_a, "timeout"_a.none())
      .def("query", &timeline::query)
      .def("recorded", &timeline::recorded)
      .def_prop_ro("word", [](const timeline& t) { return reinterpret_cast<std::uintptr_t>(t.word()); })
      .def_prop_ro("gpu",
                   [](const timeline& t) {
                     const int ordinal = t.place().ordinal;
                     return ordinal < 0 ? std::optional<int>() : ordinal;
                   })
      .def_prop_ro("alive", &timeline::alive)
      .def("check", &timeline::check);
}

void copy_pages(std::optional<int> gpu, nb::handle on, const page_numbers& to, const page_numbers& from,
                std::size_t bytes, std::size_t count, unsigned most_blocks) {
  void* const stream = stream_of(on);
  const copy_list list = page_list(to, from, bytes, count);
  const gil_released free;
  copy_blocks(place_of(gpu), stream, list, most_blocks);
}

}  // namespace

void bind_sharing(nb::module_& m) {
  bind_memory_sharing(m);
  bind_timelines(m);
  m.def("copy_list", &copy_pages, "gpu"_a.none(), "stream"_a.none(), "to"_a, "source"_a, "bytes"_a, "count"_a,
        "most_blocks"_a);
}

}  // namespace pgas::python
