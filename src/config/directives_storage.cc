// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about durability, memory and RocksDB.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr auto kDur = Section::kDurability;
constexpr auto kMem = Section::kMemory;
constexpr auto kRocks = Section::kRocksdb;

constexpr std::string_view kFsync[] = {"everysec", "always", "no"};  // AppendFsync
constexpr std::string_view kBottom[] = {"snappy", "zstd"};           // BottomCompression
constexpr std::string_view kPolicies[] = {"volatile-lru",   "volatile-lfu", "volatile-random",
                                          "volatile-ttl",   "allkeys-lru",  "allkeys-lfu",
                                          "allkeys-random", "noeviction"};

const Directive kRows[] = {
    {.name = "appendfsync", .section = kDur, .kind = Kind::kChoice, .fallback = "everysec",
     .choices = kFsync, .target = &S::appendfsync,
     .help = "When a write is safe from a power loss: before its reply (always), within a second "
             "(everysec), when the kernel gets to it (no). A crash of the process alone loses "
             "nothing in any of them. With always, nobody sees a write before it is synced, and the "
             "server ends when a sync fails."},
    {.name = "appendonly", .section = kDur, .kind = Kind::kBool, .fallback = "yes",
     .help = "Accepted and shown, without effect: every write goes to the log, always."},

    {.name = "min-free-disk", .section = kDur, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::min_free_disk,
     .help = "Bytes of the file system that the data may not grow into. When so little is left, commands that may need "
             "more are refused (MISCONF); those that delete, and COMPACT, have the rest to work with. The last part is "
             "held by a file in the data directory, so that a start always has room. 0 takes what these need by "
             "`memory-budget` and `rocksdb-max-wal-size`, 60 to 650 MB, and a fifth of the file system at most; 1 is "
             "no reserve."},
    {.name = "dbfilename", .section = kDur, .kind = Kind::kText, .fallback = "dump.rdb",
     .flags = kGuarded, .syntax = "<file name>",
     .help = "The RDB file that SAVE and BGSAVE write in the data directory. A start reads it "
             "only where there is no database yet; cairn-import reads it at any time."},
    {.name = "rdbcompression", .section = kDur, .kind = Kind::kBool, .fallback = "yes",
     .help = "Compress long texts in RDB files, and in what a replica is sent at first."},
    {.name = "rdbchecksum", .section = kDur, .kind = Kind::kBool, .fallback = "yes",
     .help = "Put a checksum at the end of RDB files, and look at it where one is loaded."},
    {.name = "rdb-key-save-delay", .section = kDur, .kind = Kind::kNumber, .fallback = "0",
     .min = INT32_MIN, .max = INT32_MAX, .syntax = "<microseconds>",
     .help = "Sleep so long after each key that is written to an RDB file. For tests."},

    {.name = "memory-budget", .section = kMem, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::memory_budget,
     .help = "All the memory the server may use: key cache, blocks, memtables, indexes, buffers. 0 "
             "takes 40 percent of the machine's memory, or of the cgroup's limit where that is "
             "lower."},
    {.name = "maxmemory", .section = kMem, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::maxmemory,
     .help = "Accepted and shown, without effect: the data is on disk and nothing is evicted from "
             "it. `memory-budget` is the bound on memory."},
    {.name = "maxmemory-clients", .section = kMem, .kind = Kind::kSpecial, .fallback = "16%",
     .special = &kClientMemorySyntax, .target = PublishClientMemory, .syntax = "<bytes> | <percent>%",
     .help = "What all clients may take together for their requests, replies, transactions and subscriptions, in bytes "
             "or in percent of `maxmemory` or `memory-budget`, the lower of those that are set. Beyond it the clients "
             "that take the most are disconnected; never replicas, nor who has said CLIENT NO-EVICT ON. So a value "
             "that is larger cannot be sent or fetched. 0 is no limit. Clients that have not authenticated, or whose "
             "TLS handshake is not over, have a 32nd of `memory-budget` of it together."},
    {.name = "maxmemory-policy", .section = kMem, .kind = Kind::kChoice, .fallback = "noeviction",
     .choices = kPolicies,
     .help = "Nothing is evicted, see `maxmemory`. With one of the two lfu policies the uses of keys are counted, for "
             "OBJECT FREQ."},
    {.name = "maxmemory-samples", .section = kMem, .kind = Kind::kNumber, .fallback = "5", .min = 1,
     .max = 64, .help = "Accepted and shown, without effect; see `maxmemory`."},

    {.name = "compaction-rate-limit", .section = kRocks, .kind = Kind::kMemory, .fallback = "0",
     .min = 0, .target = &S::compaction_rate_limit, .syntax = "<bytes per second>",
     .help = "Bytes a second that flushes and compactions may write; 0 is no limit."},
    {.name = "max-background-jobs", .section = kRocks, .kind = Kind::kNumber, .fallback = "2",
     .min = 1, .max = 64, .flags = kStartOnly, .target = &S::max_background_jobs,
     .help = "Flushes and compactions that may run at one time."},
    {.name = "rocksdb-max-subcompactions", .section = kRocks, .kind = Kind::kNumber,
     .fallback = "2", .min = 1, .max = 64, .flags = kStartOnly,
     .target = &S::rocksdb_max_subcompactions, .help = "Threads that share one large compaction."},
    {.name = "rocksdb-max-wal-size", .section = kRocks, .kind = Kind::kMemory, .fallback = "256mb",
     .min = 1 << 20, .flags = kStartOnly, .target = &S::rocksdb_max_wal_size,
     .help = "Size of the log at which memtables are written out so that its oldest part can go. "
             "It bounds how long a start after a crash takes."},
    {.name = "rocksdb-blob-min-size", .section = kRocks, .kind = Kind::kMemory, .fallback = "64kb",
     .min = 0, .flags = kStartOnly, .target = &S::rocksdb_blob_min_size,
     .help = "Values of this many bytes or more live in blob files, where compactions do not copy "
             "them; 0 keeps all values with their keys."},
    {.name = "rocksdb-bottom-compression", .section = kRocks, .kind = Kind::kChoice,
     .fallback = "zstd", .choices = kBottom, .flags = kStartOnly,
     .target = &S::rocksdb_bottom_compression,
     .help = "Compression of the last level, which holds most of the data; the levels above use "
             "Snappy."},
    {.name = "rocksdb-direct-io", .section = kRocks, .kind = Kind::kBool, .fallback = "no",
     .flags = kStartOnly, .target = &S::rocksdb_direct_io,
     .help = "Read and write table files past the kernel's page cache, which then leaves more "
             "memory to others."},
};

}  // namespace

std::span<const Directive> StorageDirectives() { return kRows; }

}  // namespace cairn
