// SPDX-License-Identifier: BSD-3-Clause
//
// INFO server, clients and memory.
#include <fmt/format.h>
#include <jemalloc/jemalloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/version.h"
#include "client/client_memory.h"
#include "client/client_registry.h"
#include "client/tracking.h"
#include "command/waiters.h"
#include "config/config.h"
#include "config/settings.h"
#include "net/listener.h"
#include "report/report.h"
#include "script/scripting.h"
#include "stats/process_memory.h"
#include "stats/server_state.h"
#include "stats/stats.h"
#include "storage/store.h"

namespace cairn {
namespace {

std::string DescribeSystem() {
  utsname name{};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

// Writes one line per listener address: TCP, with or without TLS, or a Unix socket.
void WriteListeners(const ReportParts& parts, SectionWriter& text) {
  int number = 0;
  const auto write = [&](const std::string& line) { text.Field(fmt::format("listener{}", number++), line); };
  for (const Listener* listener : parts.listeners()) {
    const ListenerOptions& options = listener->options();
    const ListenPlace place = listener->place();
    if (place.port != 0) {
      std::string line = options.tls == nullptr ? "name=tcp" : "name=tls";
      for (const std::string& address : place.addresses) line.append(",bind=").append(address);
      write(fmt::format("{},port={}", line, place.port));
    }
    if (!options.unix_path.empty()) write("name=unix,bind=" + options.unix_path);
  }
}

void WriteServer(const ReportParts& parts, SectionWriter& text) {
  const Identity& identity = parts.identity;
  const int64_t uptime_s = (MonotonicUs() - identity.started_us) / 1000000;
  text.Field("redis_version", kRedisVersion);
  text.Field("redis_git_sha1", "00000000");
  text.Field("redis_git_dirty", 0);
  text.Field("redis_build_id", "0");
  text.Field("redis_mode", parts.settings.cluster_enabled ? "cluster" : "standalone");
  text.Field("cairn_version", kCairnVersion);
  text.Gauge("", "build_info", "Always 1; the versions are labels.", 1,
             fmt::format("{},{}", MetricsText::Label("version", kCairnVersion),
                         MetricsText::Label("redis_version", kRedisVersion)));
  text.Field("os", std::string_view(DescribeSystem()));
  text.Field("arch_bits", static_cast<int64_t>(sizeof(void*) * 8));
  text.Field("monotonic_clock", "POSIX clock_gettime");
  text.Field("multiplexing_api", "epoll");
  text.Field("gcc_version", __VERSION__);
  text.Field("process_id", static_cast<int64_t>(getpid()));
  text.Field("process_supervised", std::string_view(identity.supervised));
  text.Field("run_id", std::string_view(identity.run_id));
  const int64_t port = parts.settings.port;
  text.Field("tcp_port", port != 0 ? port : parts.settings.tls_port.load());
  text.Field("server_time_usec", WallUs());
  text.Gauge("uptime_in_seconds", "uptime_seconds", "Time since the start.", uptime_s);
  text.Field("uptime_in_days", uptime_s / 86400);
  text.Field("hz", parts.settings.hz.load());
  text.Field("configured_hz", parts.settings.hz.load());
  text.Field("lru_clock", WallMs() / 1000 % (1 << 24));
  text.Field("executable", std::string_view(identity.executable));
  text.Field("config_file", std::string_view(identity.config_file));
  text.Field("io_threads_active", parts.settings.io_threads > 1);
  WriteListeners(parts, text);
}

void WriteClients(const ReportParts& parts, SectionWriter& text) {
  uint64_t blocked = 0;
  uint64_t largest_input = 0;
  uint64_t largest_output = 0;
  const auto sessions = parts.clients.All();
  for (const auto& session : sessions) {
    blocked += session->blocking.is_blocked || session->paused_until_us != 0 ? 1 : 0;
    largest_input = std::max(largest_input, session->memory.query_buffer_capacity.load());
    largest_output = std::max(largest_output, session->memory.output_capacity.load());
  }
  text.Gauge("connected_clients", "connected_clients", "Clients that are connected.",
             static_cast<uint64_t>(sessions.size()));
  text.Field("cluster_connections", 0);
  text.Gauge("maxclients", "max_clients", "maxclients.", parts.settings.maxclients.load());
  text.Field("client_recent_max_input_buffer", largest_input);
  text.Field("client_recent_max_output_buffer", largest_output);
  text.Gauge("blocked_clients", "blocked_clients", "Clients that wait in a blocking command or for the end of a pause.",
             blocked);
  text.Gauge("tracking_clients", "tracking_clients", "Clients that use CLIENT TRACKING.",
             parts.tracking.totals().clients);
  const Waiters::Totals waits = parts.waiters.totals();
  text.Field("watching_clients", waits.watching_clients);
  text.Field("clients_in_timeout_table", blocked);
  text.Field("total_watched_keys", waits.watched_keys);
  text.Field("total_blocking_keys", waits.blocking_keys);
  text.Field("total_blocking_keys_on_nokey", waits.blocking_keys_on_nokey);
}

constexpr std::string_view kPolicyName[] = {"maxmemory-policy"};

std::string FormatPercent(uint64_t part, uint64_t whole) {
  return fmt::format("{:.2f}%", whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void WriteAllocator(const ProcessMemory& memory, SectionWriter& text) {
  text.Field("allocator_allocated", memory.allocated);
  text.Field("allocator_active", memory.active);
  text.Field("allocator_resident", memory.resident);
  text.Field("allocator_frag_ratio", Ratio(memory.active, memory.allocated), 2);
  text.Field("allocator_frag_bytes", static_cast<int64_t>(memory.active - memory.allocated));
  text.Field("allocator_rss_ratio", Ratio(memory.resident, memory.active), 2);
  text.Field("allocator_rss_bytes", static_cast<int64_t>(memory.resident - memory.active));
  text.Field("rss_overhead_ratio", Ratio(memory.rss, memory.resident), 2);
  text.Field("rss_overhead_bytes", static_cast<int64_t>(memory.rss - memory.resident));
  text.Field("mem_fragmentation_ratio", Ratio(memory.rss, memory.allocated), 2);
  text.Field("mem_fragmentation_bytes", static_cast<int64_t>(memory.rss - memory.allocated));
  text.Field("mem_allocator",
             fmt::format("jemalloc-{}.{}.{}", JEMALLOC_VERSION_MAJOR, JEMALLOC_VERSION_MINOR, JEMALLOC_VERSION_BUGFIX));
}

// A Lua state serves scripts and functions alike, so its memory is reported as that of scripts.
void WriteScripts(const ReportParts& parts, SectionWriter& text) {
  const Scripting& scripting = parts.scripting;
  const auto libraries = scripting.libraries();
  const uint64_t vm_bytes = scripting.vm_bytes();
  const uint64_t script_bytes = parts.scripting.cache().bytes();
  const uint64_t function_bytes = libraries->bytes();
  text.Field("used_memory_vm_eval", vm_bytes);
  text.Bytes("used_memory_lua", vm_bytes);
  text.Field("used_memory_scripts_eval", script_bytes);
  text.Field("number_of_cached_scripts", static_cast<uint64_t>(parts.scripting.cache().count()));
  text.Field("number_of_functions", static_cast<uint64_t>(libraries->function_count()));
  text.Field("number_of_libraries", static_cast<uint64_t>(libraries->all().size()));
  text.Field("used_memory_vm_functions", uint64_t{0});
  text.Bytes("used_memory_vm_total", vm_bytes);
  text.Field("used_memory_functions", function_bytes);
  text.Bytes("used_memory_scripts", script_bytes + function_bytes);
}

void WriteMemory(const ReportParts& parts, SectionWriter& text) {
  const ProcessMemory memory = ProcessMemory::Read();
  const uint64_t used_peak = parts.memory_peak.Note(memory.allocated);
  const ClientMemory::Totals clients = parts.client_memory.totals();
  text.Bytes("used_memory", memory.allocated);
  text.Gauge("", "memory_allocated_bytes", "Bytes allocated.", memory.allocated);
  text.Bytes("used_memory_rss", memory.rss);
  text.Bytes("used_memory_peak", used_peak);
  text.Field("used_memory_peak_perc", std::string_view(FormatPercent(memory.allocated, used_peak)));
  text.Bytes("used_memory_rss_peak", memory.rss_peak);
  text.Bytes("total_system_memory", memory.machine);
  const uint64_t start = std::min(parts.memory_peak.start(), memory.allocated);
  Store& store = parts.store;
  const uint64_t rows = std::min<uint64_t>(store.cache().usage() + store.engine().MemtableBytes(), memory.allocated);
  text.Field("used_memory_overhead", memory.allocated - rows);
  text.Field("used_memory_startup", start);
  text.Field("used_memory_dataset", rows);
  const uint64_t grown = std::max(rows, memory.allocated - start);
  text.Field("used_memory_dataset_perc", std::string_view(FormatPercent(rows, grown)));
  WriteScripts(parts, text);
  text.Bytes("maxmemory", static_cast<uint64_t>(parts.settings.maxmemory.load()));
  text.Field("maxmemory_policy", std::string_view(parts.config.Get(kPolicyName).front().second));
  WriteAllocator(memory, text);
  text.Field("mem_replication_backlog", parts.store.log().tail().bytes());
  text.Gauge("mem_clients_slaves", "client_memory_bytes", "Memory of clients.", clients.replicas,
             MetricsText::Label("clients", "replicas"));
  text.Gauge("mem_clients_normal", "client_memory_bytes", "Memory of clients.", clients.normal,
             MetricsText::Label("clients", "normal"));
  text.Field("active_defrag_running", 0);
  // Dropping a collection is one write; the next compaction deletes its rows, and nothing waits for that.
  text.Gauge("lazyfree_pending_objects", "lazyfree_pending_objects",
             "Dropped collections whose rows are still to be deleted.", parts.store.lazy_free().pending());
  text.Counter("lazyfreed_objects", "lazyfreed_objects_total", "Dropped collections whose rows were deleted.",
               parts.stats.Totals().lazyfreed_objects);
}

constexpr ReportSection kSections[] = {
    {"server", "Server", true, WriteServer},
    {"clients", "Clients", true, WriteClients},
    {"memory", "Memory", true, WriteMemory},
};

}  // namespace

std::span<const ReportSection> ProcessSections() { return kSections; }

}  // namespace cairn
