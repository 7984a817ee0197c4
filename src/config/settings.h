// SPDX-License-Identifier: BSD-3-Clause
//
// Settings: the directives that threads read while they serve, each under its redis.conf name.
//
// Only Config (config/config.h) writes them; the table of directives has their defaults, bounds and meaning. The limits
// of collections are in types/limits.h, because types/ may not include this file. Strings (`dir`) are in Config.
//
// Thread: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cairn {

// In the order of the names in the table of directives, because the index is stored.
enum class AppendFsync : int64_t { kEverySec, kAlways, kNo };
enum class LogLevel : int64_t { kDebug, kVerbose, kNotice, kWarning };
enum class BottomCompression : int64_t { kSnappy, kZstd };
enum class Allowed : int64_t { kNo, kYes, kLocal };

// The values of `client-output-buffer-limit` for one class of clients; 0: no limit.
struct OutputLimit {
  std::atomic<int64_t> hard_bytes{0};
  std::atomic<int64_t> soft_bytes{0};
  std::atomic<int64_t> soft_seconds{0};
};
enum class ClientClass : unsigned char { kNormal, kReplica, kPubsub };

// The command logs and latency monitoring.
struct ObservationSettings {
  using Flag = std::atomic<bool>;
  using Number = std::atomic<int64_t>;

  Number slowlog_log_slower_than_us, slowlog_max_len;
  Number commandlog_request_larger_than_bytes, commandlog_large_request_max_len;
  Number commandlog_reply_larger_than_bytes, commandlog_large_reply_max_len;
  Number latency_monitor_threshold_ms;  // 0: off
  Flag latency_tracking;
};

// The options of RocksDB; those of compactions can change later.
struct RocksDbSettings {
  using Flag = std::atomic<bool>;
  using Number = std::atomic<int64_t>;

  Number compaction_rate_limit;                               // bytes per second; 0: no limit
  Number compaction_after_writes, compaction_interval_hours;  // 0: never
  Number compaction_window_begin, compaction_window_end;      // minutes of the day; equal: the whole day
  Number max_background_jobs, rocksdb_max_subcompactions, rocksdb_max_wal_size;
  Number rocksdb_blob_min_size, rocksdb_blob_file_size, rocksdb_blob_compression;  // BlobCompression
  Number blob_garbage_share, blob_garbage_step;                                    // percent; bytes
  Number rocksdb_bottom_compression;                                               // BottomCompression
  Flag rocksdb_direct_io;
};

// Limits of memory and of data, see Settings.
struct MemorySettings {
  using Number = std::atomic<int64_t>;

  Number memory_databases_limit;  // bytes; 0: a share of memory_budget
  Number memory_databases_save_s;
  Number memory_budget;      // bytes; 0: a share of the machine's (storage/budget.h)
  Number max_data_size;      // bytes; 0: maxmemory
  Number maxmemory;          // bytes; 0: no limit
  Number maxmemory_clients;  // bytes; negative: percent; 0: no limit
};

struct ClusterSettings {
  std::atomic<bool> cluster_enabled, cluster_require_full_coverage, cluster_allow_reads_when_down,
      cluster_allow_pubsubshard_when_down;
  std::atomic<int64_t> cluster_preferred_endpoint_type;  // EndpointType
};

struct Settings : ObservationSettings, RocksDbSettings, MemorySettings, ClusterSettings {
  using Flag = std::atomic<bool>;
  using Number = std::atomic<int64_t>;

  // network
  Number tcp_backlog, tcp_keepalive_s, timeout_s, auth_timeout_s, maxclients, io_threads, unixsocketperm, port,
      metrics_port;
  Flag protected_mode;
  Number client_query_buffer_limit;
  OutputLimit output_limits[3];  // by ClientClass
  // The hard limit of unsent bytes; 0: none. As in Redis, a replica's is at least repl-backlog-size: a replica that was
  // disconnected earlier would ask for the same bytes again.
  int64_t hard_output_limit(ClientClass of) const {
    const int64_t hard = output_limits[static_cast<int>(of)].hard_bytes.load(std::memory_order_relaxed);
    return of == ClientClass::kReplica && hard > 0 ? std::max(hard, repl_backlog_size.load()) : hard;
  }

  // TLS
  Number tls_port, tls_auth_clients;  // tls_auth_clients: TlsClientCertificates (base/tls.h)
  Flag tls_replication;

  // process
  Flag daemonize, crash_log_enabled;
  Number loglevel;       // LogLevel
  Number double_format;  // DoubleFormat
  Number databases, hz;
  Number enable_debug_command, enable_protected_configs;  // Allowed
  Number slow_threads;
  Number busy_reply_threshold_ms;

  // access
  Number acl_pubsub_default;  // 0: allchannels
  Number acllog_max_len;

  // replication
  Flag replica_read_only, replica_serve_stale_data, replica_announced, repl_diskless_sync, replica_ignore_del,
      replica_ignore_expire, repl_sync_files;
  Number replica_priority, repl_timeout_s, repl_ping_replica_period_s, repl_backlog_size, repl_backlog_ttl_s,
      repl_sync_rate, repl_diskless_sync_delay_s, repl_diskless_sync_max_replicas, min_replicas_to_write,
      min_replicas_max_lag_s;

  // durability
  Number appendfsync;    // AppendFsync
  Number min_free_disk;  // bytes; 0: computed (storage/disk_reserve.h)

  // expiry
  Number active_expire_effort;

  AppendFsync fsync_policy() const { return static_cast<AppendFsync>(appendfsync.load(std::memory_order_relaxed)); }
};

}  // namespace cairn
