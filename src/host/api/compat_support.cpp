#include "pgas/compat_support.hpp"

#include "host/config/config_text.hpp"
#include "host/config/launcher_variables.hpp"
#include "host/connect/peer_descriptor.hpp"
#include "host/log/logger.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

bootstrap_options make_bootstrap_options(const config& settings) {
  return config_detail::make_bootstrap_options(settings);
}

std::string opening_text(std::string_view interface, std::initializer_list<std::string_view> prefixes) {
  return config_detail::startup_text(interface, prefixes);
}

std::string host_identity(const config& settings) { return host_identity(settings.socket_directory); }

interface_log::interface_log() : log_(std::make_unique<log::logger>(log_level::warn)) {}
interface_log::interface_log(const config& settings) : log_(std::make_unique<log::logger>(settings)) {}
interface_log::~interface_log() = default;

void interface_log::set_pe(int pe, int n_pes) { log_->set_pe(pe, n_pes); }

void interface_log::write(log_level level, std::string_view text) noexcept {
  log_->write(level, "{}", fmt::make_format_args(text));
}

void await_leave(world& w) { w.state().await_leave(); }

bool is_idle(const world& w, const stream& other) { return w.state().device().idle(other.native(w.state())); }

ordered_work::ordered_work(const world& w)
    : world_(w.state().shared_from_this()), order_(world_->device().make_stream_order()) {}
ordered_work::~ordered_work() {
  if (world_->forked()) static_cast<void>(order_.release());  // the objects of the device belong to the parent process
}

void ordered_work::before(const stream& on) {
  world_->check();
  order_->before(on.native(*world_));
}

void ordered_work::after(const stream& on) { order_->after(on.native(*world_)); }

}  // namespace pgas::detail
