// The Python class Team, and its collectives.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "error.hpp"
#include "joined_world.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace pgas::python {
namespace {

using detail::collective_kind;
using detail::collective_request;
using detail::number_type;
using detail::reduction;

/// A team of a world, for Python. Dropping a team is local; destroy() is collective.
class python_team {
 public:
  /// A predefined team of the world.
  python_team(std::shared_ptr<joined_world> of, const team& built_in) : of_(std::move(of)), built_in_(&built_in) {}
  python_team(std::shared_ptr<joined_world> of, team&& made) : of_(std::move(of)), made_(std::move(made)) {}
  python_team(python_team&&) = default;
  ~python_team() {
    if (of_ != nullptr && made_) of_->keep(std::move(made_));
  }

  [[nodiscard]] const team& get() const {
    static_cast<void>(of_->get());
    const team& one = built_in_ != nullptr ? *built_in_ : made_;
    if (!one) refuse("this PE is not a member of the team, or the team was destroyed");
    return one;
  }
  [[nodiscard]] bool is_member() const { return built_in_ != nullptr || static_cast<bool>(made_); }
  [[nodiscard]] joined_world& joined() const { return *of_; }
  [[nodiscard]] const std::shared_ptr<joined_world>& shared_world() const { return of_; }
  void destroy() {
    if (built_in_ == nullptr && made_) of_->blocking([&] { made_.destroy(); });
  }

 private:
  std::shared_ptr<joined_world> of_;
  const team* built_in_ = nullptr;
  team made_;
};

template <class Split>
python_team split_by(const python_team& from, const Split& split) {
  return {from.shared_world(), from.joined().blocking([&] { return split(from.get()); })};
}

struct named_kind {
  const char* name;
  collective_kind what;
  bool reduces;
};
constexpr std::array kinds{
    named_kind{"broadcast", collective_kind::broadcast, false},
    named_kind{"all_gather", collective_kind::fcollect, false},
    named_kind{"all_gather_v", collective_kind::collect, false},
    named_kind{"all_to_all", collective_kind::alltoall, false},
    named_kind{"all_to_all_strided", collective_kind::alltoalls, false},
    named_kind{"all_reduce", collective_kind::reduce, true},
    named_kind{"reduce", collective_kind::reduce_to_root, true},
    named_kind{"reduce_scatter", collective_kind::reduce_scatter, true},
    named_kind{"inclusive_scan", collective_kind::inclusive_scan, true},
    named_kind{"exclusive_scan", collective_kind::exclusive_scan, true},
};
constexpr std::array reductions{
    std::pair{"sum", reduction::sum},      std::pair{"prod", reduction::prod},    std::pair{"min", reduction::min},
    std::pair{"max", reduction::max},      std::pair{"band", reduction::bit_and}, std::pair{"bor", reduction::bit_or},
    std::pair{"bxor", reduction::bit_xor},
};

const named_kind& kind_of(std::string_view name) {
  for (const named_kind& row : kinds)
    if (name == row.name) return row;
  refuse("there is no collective '" + std::string(name) + "'");
}

reduction reduction_of(std::string_view name) {
  for (const auto& [known, op] : reductions)
    if (name == known) return op;
  refuse("there is no reduction '" + std::string(name) + "': choose sum, prod, min, max, band, bor or bxor");
}

/// The number_type with which `op` reduces an element type. Signed integers have the number_type of unsigned integers,
/// except for min and max.
number_type number_of(element_type type, reduction op, std::string_view name) {
  const bool ordered = op == reduction::min || op == reduction::max;
  const bool bitwise = op == reduction::bit_and || op == reduction::bit_or || op == reduction::bit_xor;
  const int by_width = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3;
  const auto integer = [&](number_type first) { return static_cast<number_type>(static_cast<int>(first) + by_width); };
  if (type.code == 0) return integer(ordered ? number_type::i8 : number_type::u8);
  if (type.code == 1) return integer(number_type::u8);
  if (type.code == 6 && (bitwise || ordered)) return number_type::u8;  // a bool is a byte with the value 0 or 1
  if (bitwise || (ordered && type.code == 5) || type.code == 6)
    refuse("there is no reduction '" + std::string(name) + "' of " + name_of(type));
  if (type.code == 4) return number_type::bf16;
  if (type.code == 5) return type.bits == 64 ? number_type::complex_f32 : number_type::complex_f64;
  return type.bits == 16 ? number_type::f16 : type.bits == 32 ? number_type::f32 : number_type::f64;
}

/// A request whose addresses and counts are not set yet.
collective_request request_for(const named_kind& kind, element_type elements, const char* op, int root) {
  collective_request request;
  request.what = kind.what;
  request.element_bytes = static_cast<std::size_t>(elements.bytes());
  request.alignment = static_cast<std::uint8_t>(
      std::min<std::int64_t>(elements.code == 5 ? elements.bytes() / 2 : elements.bytes(), 8));
  request.root = root;
  if (kind.reduces) {
    request.op = reduction_of(op);
    request.type = number_of(elements, request.op, op);
  }
  return request;
}

void run(const python_team& of, const stream_argument& where, const collective_request& request) {
  if (where.get() != nullptr) {
    const library_call call(of.joined());
    detail::run_collective(of.get(), where.get(), request);
  } else {
    of.joined().blocking([&] {
      if (of.joined().compares())
        detail::run_compared_collective(of.get(), request);
      else
        detail::run_collective(of.get(), nullptr, request);
    });
  }
}

/// @param root the root of broadcast and reduce @param strides for all_to_all_strided: strides of destination and
/// source, in elements
void collective(const python_team& of, const char* name, const std::string& type, const char* op, std::uintptr_t dst,
                std::uintptr_t src, std::size_t count, int root, std::pair<std::int64_t, std::int64_t> strides,
                nb::handle on) {
  collective_request request = request_for(kind_of(name), element_type_of(type), op, root);
  request.count = count;
  request.dst = reinterpret_cast<void*>(dst);
  request.src = reinterpret_cast<const void*>(src);
  request.dst_stride = strides.first;
  request.src_stride = strides.second;
  run(of, stream_argument(of.joined(), on), request);
}

/// Like collective(), in the current stream, for arrays that array_pair accepts. For other arrays, returns false and
/// does nothing.
/// @param in_blocks number of blocks of elements in the input @param out_blocks number of blocks in the output; 0: any
/// number
bool collective_arrays(const python_team& of, const char* name, const char* op, nb::handle out, nb::handle in,
                       std::size_t in_blocks, std::size_t out_blocks, int root) {
  const auto both = array_pair::find(out, in);
  if (!both) return false;
  const std::size_t count = both->second().count / in_blocks;
  if (count * in_blocks != both->second().count || (out_blocks != 0 && both->first().count != count * out_blocks))
    return false;
  collective_request request = request_for(kind_of(name), both->first().type, op, root);
  request.count = count;
  request.dst = reinterpret_cast<void*>(both->first().data);
  request.src = reinterpret_cast<const void*>(both->second().data);
  request.dst_stride = request.src_stride = 1;
  run(of, stream_argument(of.joined(), *both), request);
  return true;
}

/// Implements barrier() and sync().
template <auto Blocking, auto Enqueued>
void wait_for_members(const python_team& of, nb::handle on) {
  const stream_argument where(of.joined(), on);
  if (where.get() != nullptr) {
    const library_call call(of.joined());
    Enqueued(of.get(), *where.get());
  } else {
    of.joined().blocking([&] { Blocking(of.get()); });
  }
}

}  // namespace

void bind_teams(nb::module_& m, nb::class_<joined_world>& c) {
  nb::class_<python_team>(m, "Team", nb::is_weak_referenceable())
      .def_prop_ro("is_member", &python_team::is_member)
      .def_prop_ro("my_pe", [](const python_team& t) { return t.get().my_pe(); })
      .def_prop_ro("n_pes", [](const python_team& t) { return t.get().n_pes(); })
      .def(
          "world_pe", [](const python_team& t, int pe) { return t.get().world_pe(pe); }, "pe"_a)
      .def(
          "translate_pe",
          [](const python_team& t, int pe, const python_team& to) { return t.get().translate_pe(pe, to.get()); },
          "pe"_a, "to"_a)
      .def("context_bytes",
           [](const python_team& t) {
             const context made = t.get().context();
             return nb::bytes(reinterpret_cast<const char*>(&made), sizeof made);
           })
      .def(
          "split_strided",
          [](const python_team& t, int start, int stride, int size) {
            return split_by(t, [&](const team& from) { return from.split_strided(start, stride, size); });
          },
          "start"_a, "stride"_a, "size"_a)
      .def(
          "split",
          [](const python_team& t, int color, int key) {
            return split_by(t, [&](const team& from) { return from.split(color, key); });
          },
          "color"_a, "key"_a)
      .def(
          "split_list",
          [](const python_team& t, const std::vector<int>& members) {
            return split_by(t, [&](const team& from) { return from.split_list(members); });
          },
          "members"_a)
      .def(
          "create_group",
          [](const python_team& t, const std::vector<int>& members, std::uint64_t key, bool staged) {
            return split_by(t, [&](const team& from) { return from.create_group(members, key, {.staged = staged}); });
          },
          "members"_a, "key"_a, "staged"_a)
      .def_prop_ro(
          "native", [](const python_team& t) { return reinterpret_cast<std::uintptr_t>(&t.get()); },
          "The address of the pgas::team, for other extensions: valid while this object lives.")
      .def(
          "split_2d",
          [](const python_team& t, int x_range) {
            auto [x, y] = t.joined().blocking([&] { return t.get().split_2d(x_range); });
            return std::pair(python_team(t.shared_world(), std::move(x)), python_team(t.shared_world(), std::move(y)));
          },
          "x_range"_a)
      .def("destroy", &python_team::destroy)
      .def("barrier",
           &wait_for_members<static_cast<void (*)(const team&)>(&barrier),
                             static_cast<void (*)(const team&, const stream&)>(&barrier)>,
           "stream"_a.none())
      .def("sync",
           &wait_for_members<static_cast<void (*)(const team&)>(&sync),
                             static_cast<void (*)(const team&, const stream&)>(&sync)>,
           "stream"_a.none())
      .def("collective", &collective, "name"_a, "dtype"_a, "op"_a, "dst"_a, "src"_a, "count"_a, "root"_a, "strides"_a,
           "stream"_a.none())
      .def("collective_arrays", &collective_arrays, "name"_a, "op"_a, "out"_a, "x"_a, "in_blocks"_a, "out_blocks"_a,
           "root"_a);
  c.def_prop_ro("team", [](const std::shared_ptr<joined_world>& of) { return python_team(of, of->get().team()); })
      .def_prop_ro("domain_team",
                   [](const std::shared_ptr<joined_world>& of) { return python_team(of, of->get().domain_team()); })
      .def_prop_ro("host_team",
                   [](const std::shared_ptr<joined_world>& of) { return python_team(of, of->get().host_team()); });
}

}  // namespace pgas::python
