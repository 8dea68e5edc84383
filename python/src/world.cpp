// The Python classes World and Stream.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "error.hpp"
#include "joined_world.hpp"
#include "pgas/compat_support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pgas::python {
namespace {

/// Joins in a second thread (interrupt.hpp). After Ctrl-C the call returns, and the world is aborted if joining
/// succeeds later.
std::shared_ptr<joined_world> join_elsewhere(std::function<world()> join, bool compares) {
  struct result {
    std::mutex mutex;
    bool given_up = false;
    std::shared_ptr<joined_world> joined;
  };
  const auto shared = std::make_shared<result>();
  const auto body = [shared, join = std::move(join), compares] {
    const auto made = std::make_shared<joined_world>(join());
    bool given_up = false;
    {
      const std::lock_guard lock(shared->mutex);
      shared->joined = made;
      given_up = shared->given_up;
    }
    if (given_up) return made->abort("joining was interrupted on PE " + std::to_string(made->get().my_pe()));
    made->begin(compares);  // waits for the other PEs; an abort ends this wait
  };
  if (on_main_thread()) {
    run_elsewhere(
        body,
        [shared](const std::string& how) {
          std::shared_ptr<joined_world> made;
          {
            const std::lock_guard lock(shared->mutex);
            shared->given_up = true;
            made = shared->joined;
          }
          if (made) made->abort("joining was " + how);
        },
        true);
  } else {
    const gil_released free;
    body();
  }
  leave_at_exit(shared->joined);
  return shared->joined;
}

config settings_from(const nb::dict& given) {
  config settings = config::from_environment();
  for (const auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    // Clang before version 16 captures a structured binding only by an init-capture.
    const auto milliseconds = [&, &value = value] { return milliseconds_of(nb::cast<double>(value), "join: " + name); };
    if (name == "heap") {
      const auto kind = nb::cast<std::string>(value);
      if (kind != "auto" && kind != "cuda" && kind != "host")
        refuse("join: heap is 'auto', 'cuda' or 'host', not '" + kind + "'");
      settings.heap = kind == "auto" ? heap_kind::automatic : kind == "cuda" ? heap_kind::cuda : heap_kind::host;
    } else if (name == "device") {
      settings.device = nb::cast<int>(value);
    } else if (name == "join_timeout") {
      settings.join_timeout = milliseconds();
    } else if (name == "wait_timeout") {
      settings.wait_timeout = milliseconds();
    } else if (name == "checks") {
      settings.checks = nb::cast<bool>(value);
    } else {
      refuse("join: there is no setting '" + name + "'");
    }
  }
  return settings;
}

template <class Pod>
nb::bytes bytes_of(const Pod& pod) {
  static_assert(std::is_trivially_copyable_v<Pod>);
  return nb::bytes(reinterpret_cast<const char*>(&pod), sizeof pod);
}

nb::dict info_of(joined_world& of, int pe) {
  const pe_info& info = of.get().pe(pe);
  nb::dict made;
  made["host"] = info.host;
  made["pid"] = info.pid;
  made["local_rank"] = info.local_rank;
  made["device"] = info.device;
  made["device_uuid"] = info.device_uuid;
  made["direct"] = info.direct;
  made["route"] = info.route;
  made["time_sliced"] = info.time_sliced;
  return made;
}

nb::dict usage_of(joined_world& of) {
  const heap_usage usage = of.blocking([&] { return of.get().usage(); });
  const auto [live, dropped] = of.allocations();
  nb::dict made;
  made["used"] = usage.used;
  made["mapped"] = usage.mapped;
  made["limit"] = usage.limit;
  made["largest_free"] = usage.largest_free;
  made["arrays"] = live;
  made["dropped"] = dropped;
  return made;
}

/// A stream, and the arrays that the stream's work uses. Dropping the stream does not wait for the work.
struct python_stream {
  std::shared_ptr<joined_world> of;
  std::optional<stream> on;
  nb::list held;

  python_stream(std::shared_ptr<joined_world> world, nb::list arrays) : of(std::move(world)), held(std::move(arrays)) {
    on.emplace(of->get());
  }
  python_stream(const python_stream&) = delete;
  python_stream& operator=(const python_stream&) = delete;
  ~python_stream() { of->drop(std::move(*on), held.release().ptr()); }
};

void bind_stream(nb::module_& m) {
  nb::class_<python_stream>(m, "Stream", nb::is_weak_referenceable(), nb::dynamic_attr(),
                            "A stream of a world: on a GPU heap a CUDA stream, on the host heap a thread with a queue.")
      .def(nb::init<std::shared_ptr<joined_world>, nb::list>(), "world"_a, "held"_a)
      .def_prop_ro(
          "native", [](const python_stream& s) { return reinterpret_cast<std::uintptr_t>(s.on->native()); },
          "The cudaStream_t, as a number.")
      .def("synchronize", [](python_stream& s) { s.of->blocking([&] { s.on->synchronize(); }); })
      .def("__cuda_stream__",
           [](const python_stream& s) { return nb::make_tuple(0, reinterpret_cast<std::uintptr_t>(s.on->native())); });
}

/// The Python class that orders work on several streams.
class python_work_order {
 public:
  explicit python_work_order(std::shared_ptr<joined_world> world) : of_(std::move(world)), order_(of_->get()) {}
  void before(nb::handle on) { order_.before(*stream_argument(*of_, on).get()); }
  void after(nb::handle on) { order_.after(*stream_argument(*of_, on).get()); }

 private:
  std::shared_ptr<joined_world> of_;
  detail::ordered_work order_;
};

void bind_work_order(nb::module_& m) {
  nb::class_<python_work_order>(
      m, "WorkOrder",
      "What is enqueued between before() and after() runs after the work before it, whatever streams they are on.")
      .def(nb::init<std::shared_ptr<joined_world>>(), "world"_a)
      .def("before", &python_work_order::before, "stream"_a)
      .def("after", &python_work_order::after, "stream"_a);
}

}  // namespace

std::shared_ptr<joined_world> join_launched(const config& settings, bool compares) {
  return join_elsewhere([settings] { return world::join(settings); }, compares);
}

std::shared_ptr<joined_world> join_by_id(const config& settings, bool compares, const std::string& unique_id, int rank,
                                         int size) {
  bootstrap_options options = detail::make_bootstrap_options(settings);
  options.method = "tcp";
  options.unique_id = unique_id;
  options.rank = rank;
  options.size = size;
  options.timeout = settings.join_timeout;
  return join_elsewhere([=] { return world::join(make_bootstrap(options).exchange, settings); }, compares);
}

stream_argument::stream_argument(joined_world& of, nb::handle given) {
  if (given.is_none()) return;
  if (nb::isinstance<python_stream>(given))
    borrowed_ = &*nb::cast<python_stream&>(given).on;
  else
    owned_.emplace(stream::wrap(of.get(), reinterpret_cast<void*>(nb::cast<std::uintptr_t>(given))));
}

stream_argument::stream_argument(joined_world& of, const array_pair& arrays) {
  world& w = of.get();
  if (w.device() < 0) return;
  const std::optional<void*> native = arrays.current_stream(w.device());
  if (!native) refuse("the array library does not report its current stream: pass stream=");
  owned_.emplace(stream::wrap(w, *native));
}

void bind_world(nb::module_& m) {
  m.def(
      "join", [](const nb::dict& settings, bool compares) { return join_launched(settings_from(settings), compares); },
      "settings"_a, "compares"_a);
  m.def(
      "join_by_id",
      [](const nb::dict& settings, bool compares, const std::string& unique_id, int rank, int size) {
        return join_by_id(settings_from(settings), compares, unique_id, rank, size);
      },
      "settings"_a, "compares"_a, "unique_id"_a, "rank"_a, "size"_a);
  m.def(
      "make_unique_id",
      [] {
        const bootstrap_options options = detail::make_bootstrap_options(config::from_environment());
        const gil_released free;
        return make_unique_id(options);
      },
      "A word by which processes join: make it on PE 0, and give it to all.");
  m.def("abort_all", &abort_all, "reason"_a);

  nb::class_<joined_world> c(m, "World", nb::is_weak_referenceable());
  c.def_prop_ro("my_pe", [](joined_world& of) { return of.get().my_pe(); })
      .def_prop_ro("n_pes", [](joined_world& of) { return of.get().n_pes(); })
      .def_prop_ro("device",
                   [](joined_world& of) {
                     const int ordinal = of.get().device();
                     return ordinal < 0 ? std::optional<int>() : ordinal;
                   })
      .def_prop_ro("left", &joined_world::left)
      .def_prop_ro(
          "native", [](joined_world& of) { return reinterpret_cast<std::uintptr_t>(&of.get()); },
          "The address of the pgas::world, for other extensions: valid while this object lives.")
      .def("context_bytes", [](joined_world& of) { return bytes_of(of.get().context()); })
      .def("info", &info_of, "pe"_a)
      .def("usage", &usage_of)
      .def("check", [](joined_world& of) { of.get().check(); })
      .def("abort", &joined_world::abort, "reason"_a, nb::call_guard<gil_released>())
      .def("leave",
           [](joined_world& of) {
             if (of.left()) return;
             try {
               of.blocking([&] { of.await_leave(); });
             } catch (const error&) {
               // The failure is ignored here, because leave() throws it.
             }
             const auto leave = [&] {
               of.refuse_calls();
               const gil_released free;
               of.leave();
             };
             try {
               leave();
             } catch (const error&) {
               of.release_held();
               throw;
             }
             of.release_held();
           })
      .def("barrier", [](joined_world& of) { of.blocking([&] { of.get().barrier_all(); }); })
      .def(
          "synchronize",
          [](joined_world& of, nb::handle on) {
            stream_argument target(of, on);
            of.blocking([&] {
              target.get() != nullptr ? const_cast<stream*>(target.get())->synchronize() : of.get().synchronize();
            });
          },
          "stream"_a = nb::none())
      .def(
          "allocate",
          [](joined_world& of, std::size_t bytes, std::size_t alignment, bool zero, const std::string& call) {
            of.release_held();
            return of.blocking([&] { return of.allocate(bytes, alignment, zero, call); });
          },
          "bytes"_a, "alignment"_a, "zero"_a, "call"_a)
      .def(
          "collect",
          [](joined_world& of, const std::string& call) {
            of.release_held();
            return of.blocking([&] { return of.collect(call); });
          },
          "call"_a)
      .def("peer", &joined_world::peer, "ptr"_a, "bytes"_a, "pe"_a)
      .def(
          "remote",
          [](joined_world& of, std::uintptr_t ptr, int pe) {
            return reinterpret_cast<std::uintptr_t>(of.get().ptr(reinterpret_cast<std::byte*>(ptr), pe));
          },
          "ptr"_a, "pe"_a)
      .def(
          "accessible",
          [](joined_world& of, std::uintptr_t ptr, int pe) {
            return of.get().accessible(reinterpret_cast<const void*>(ptr), pe);
          },
          "ptr"_a, "pe"_a);
  bind_stream(m);
  bind_work_order(m);
  bind_operations(c);
  bind_teams(m, c);
}

}  // namespace pgas::python
