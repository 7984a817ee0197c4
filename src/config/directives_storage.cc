// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about durability, memory and RocksDB.
#include "config/database_options.h"
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr auto kDur = Section::kDurability;
constexpr auto kMem = Section::kMemory;
constexpr auto kRocks = Section::kRocksdb;

constexpr std::string_view kFsync[] = {"everysec", "always", "no"};                  // AppendFsync
constexpr std::string_view kBottom[] = {"snappy", "zstd"};                           // BottomCompression
constexpr std::string_view kBlobCompressions[] = {"none", "snappy", "lz4", "zstd"};  // BlobCompression
constexpr std::string_view kPolicies[] = {"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
                                          "allkeys-lru",  "allkeys-lfu",  "allkeys-random",  "noeviction"};

// clang-format off
const Directive kRows[] = {
    {.name = "appendfsync", .section = kDur, .kind = Kind::kChoice, .fallback = "everysec", .choices = kFsync,
     .target = &S::appendfsync,
     .help = "When a write survives a power loss: before its reply (always), within a second (everysec), when the "
             "kernel writes it (no). A crash of the process alone loses nothing in any of the three. With always, no "
             "client sees a write before it is synced, and the server ends when a sync fails."},
    {.name = "database", .section = kDur, .kind = Kind::kSpecial, .special = &kDatabaseSyntax,
     .flags = kRepeatable | kMerged,
     .syntax = "<number> [storage-mode <ssd | hdd | memory>] [durability <always | everysec | none>]",
     .help = "Options of one database; a line for each. storage-mode says where its data is: on a disk that reads "
             "single blocks fast (ssd, the default), on one for which seeks are slow (hdd: larger blocks and files, "
             "reads ahead), or in memory alone (memory: nothing of it is read from or written to the disk, and it is "
             "empty after a start, unless `memory-databases-save` is set). It can change while the database is empty. "
             "durability takes the place of `appendfsync` for the writes of this database; a database in memory has "
             "none."},
    {.name = "appendonly", .section = kDur, .kind = Kind::kBool, .fallback = "yes",
     .help = "Accepted and shown, without effect: every write goes to the log, always."},

    {.name = "min-free-disk", .section = kDur, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::min_free_disk,
     .help = "Bytes of the file system to keep free. At this limit, commands that may need more space are refused "
             "(MISCONF), while commands that delete, and COMPACT, may use the rest. A file in the data directory holds "
             "the last part of it, so that a start always has room. 0 computes the size from `memory-budget` and "
             "`rocksdb-max-wal-size` (60 to 650 MB, at most a fifth of the file system); 1 is no reserve."},
    {.name = "dbfilename", .section = kDur, .kind = Kind::kText, .fallback = "dump.rdb", .flags = kGuarded,
     .syntax = "<file name>",
     .help = "The RDB file that SAVE and BGSAVE write into the data directory. The server reads it at a start only if "
             "there is no database yet; cairn-import reads it at any time."},
    {.name = "rdbcompression", .section = kDur, .kind = Kind::kBool, .fallback = "yes",
     .help = "Compress long strings in RDB files and in first transfers to replicas."},
    {.name = "rdbchecksum", .section = kDur, .kind = Kind::kBool, .fallback = "yes",
     .help = "Write a checksum at the end of RDB files, and check it when one is loaded."},
    {.name = "rdb-key-save-delay", .section = kDur, .kind = Kind::kNumber, .fallback = "0", .min = INT32_MIN,
     .max = INT32_MAX, .syntax = "<microseconds>",
     .help = "Sleep this long after each key that is written to an RDB file. For tests."},
    {.name = "backup-dir", .section = kDur, .kind = Kind::kText, .fallback = "", .flags = kStartOnly,
     .syntax = "<path>",
     .help = "The directory that BACKUP START copies the database's files to, best on another disk; it is created when "
             "missing. One server has it at a time. A relative path starts at the data directory. None if empty."},
    {.name = "backup-rate-limit", .section = kDur, .kind = Kind::kMemory, .fallback = "64mb", .min = 0,
     .syntax = "<bytes per second>",
     .help = "The most bytes per second that a backup copies, from the next BACKUP START on; 0 is no limit."},

    {.name = "memory-budget", .section = kMem, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::memory_budget,
     .help = "Memory that the server may use: key cache, blocks, memtables, indexes, buffers. 0 is 40 percent of the "
             "machine's memory, or of the cgroup's limit if that is lower."},
    {.name = "memory-databases-limit", .section = kMem, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::memory_databases_limit,
     .help = "The most memory for the data of all databases with storage-mode memory (directive `database`); 0 is a "
             "quarter of `memory-budget`, which they are a part of. Above it keys are evicted as `maxmemory-policy` "
             "says. With noeviction, or if nothing can be evicted, commands that may add data to such a database are "
             "refused (OOM)."},
    {.name = "memory-databases-save", .section = kMem, .kind = Kind::kNumber, .fallback = "0", .min = 0,
     .max = 7 * 24 * 3600, .target = &S::memory_databases_save_s, .syntax = "<seconds>",
     .help = "Save the databases with storage-mode memory to the file `memory-databases.rdb` in the data directory "
             "this often, if they have changed, and when the server stops (unless by SHUTDOWN NOSAVE). A start loads "
             "the file. 0: they are not saved, and a start begins with empty ones."},
    {.name = "max-data-size", .section = kMem, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::max_data_size,
     .help = "The most bytes for the data of all databases on disk: tables as compressed, without what is known to be "
             "garbage, and memtables (INFO's `data_size`). Above it keys are evicted as `maxmemory-policy` says. With "
             "noeviction, or if nothing can be evicted, commands that may add data are refused (OOM). 0 is the value "
             "of `maxmemory`."},
    {.name = "key-cache-warmup", .section = kMem, .kind = Kind::kBool, .fallback = "yes",
     .help = "The server saves the row keys of the most used rows to the file `key-cache` in the data directory, from "
             "time to time and when it stops. After a start it reads these rows into the key cache while it serves "
             "clients. `no` also ends a warm-up."},
    {.name = "maxmemory", .section = kMem, .kind = Kind::kMemory, .fallback = "0", .min = 0, .target = &S::maxmemory,
     .help = "Another name for `max-data-size`, which prevails unless it is 0. It limits the data on disk, not memory; "
             "`memory-budget` does that. 0 is no limit."},
    {.name = "maxmemory-clients", .section = kMem, .kind = Kind::kSpecial, .fallback = "16%",
     .special = &kClientMemorySyntax, .target = PublishClientMemory, .syntax = "<bytes> | <percent>%",
     .help = "The most memory for the requests, replies, transactions and subscriptions of all clients together, in "
             "bytes or in percent of `memory-budget` (in Redis of `maxmemory`, which limits the data on disk here). "
             "Above it the server disconnects the clients that use the most, except replicas and clients with CLIENT "
             "NO-EVICT ON. A client cannot send or fetch a value that exceeds this limit. 0 is no limit. All clients "
             "that have not authenticated or not completed their TLS handshake together get a 32nd of "
             "`memory-budget`."},
    {.name = "maxmemory-policy", .section = kMem, .kind = Kind::kChoice, .fallback = "noeviction", .choices = kPolicies,
     .help = "Which keys are evicted, see `max-data-size` and `memory-databases-limit`. For lru and lfu the key cache "
             "tells when a key was used; keys that are not in it come first. With one of the two lfu policies the "
             "server counts accesses to keys, for OBJECT FREQ too."},
    {.name = "maxmemory-samples", .section = kMem, .kind = Kind::kNumber, .fallback = "5", .min = 1, .max = 64,
     .help = "How many random keys an eviction chooses from."},

    {.name = "compaction-rate-limit", .section = kRocks, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::compaction_rate_limit, .syntax = "<bytes per second>",
     .help = "The most bytes per second that flushes and compactions write; 0 is no limit. While files wait for "
             "them, the limit rises, so that writes are not delayed (INFO's `compaction_rate_bytes`)."},
    {.name = "compaction-after-writes", .section = kRocks, .kind = Kind::kNumber, .fallback = "50000000", .min = 0,
     .target = &S::compaction_after_writes, .syntax = "<rows>",
     .help = "Start a compaction of all data after this many writes of rows since the last one (SET writes one row, a "
             "new key with a deadline two), so that deleted, expired and overwritten data takes no space; 0 is never. "
             "COMPACT STATUS shows the number."},
    {.name = "compaction-interval-hours", .section = kRocks, .kind = Kind::kNumber, .fallback = "12", .min = 0,
     .max = 24 * 365, .target = &S::compaction_interval_hours,
     .help = "Start the same compaction this many hours after the last one if there were writes; 0 is never."},
    {.name = "compaction-window", .section = kRocks, .kind = Kind::kSpecial, .fallback = "\"\"",
     .special = &kDayWindowSyntax, .target = PublishCompactionWindow, .syntax = "<HH:MM>-<HH:MM> | \"\"",
     .help = "The time of the day, in the server's time zone, in which these compactions may start and run; what is "
             "left at its end continues in the next window. It may span midnight. Empty is any time."},
    {.name = "max-background-jobs", .section = kRocks, .kind = Kind::kNumber, .fallback = "3", .min = 1, .max = 64,
     .flags = kStartOnly, .target = &S::max_background_jobs,
     .help = "The most flushes and compactions that run at the same time; of 3, one flush and two compactions. RocksDB "
             "starts a second compaction only while compactions are behind."},
    {.name = "rocksdb-max-subcompactions", .section = kRocks, .kind = Kind::kNumber, .fallback = "2", .min = 1,
     .max = 64, .flags = kStartOnly, .target = &S::rocksdb_max_subcompactions,
     .help = "Threads that share one large compaction."},
    {.name = "rocksdb-max-wal-size", .section = kRocks, .kind = Kind::kMemory, .fallback = "256mb", .min = 1 << 20,
     .flags = kStartOnly, .target = &S::rocksdb_max_wal_size,
     .help = "Size of the log at which memtables are flushed so that its oldest part can be deleted. It bounds the "
             "time of a start after a crash."},
    {.name = "rocksdb-blob-min-size", .section = kRocks, .kind = Kind::kMemory, .fallback = "16kb", .min = 0,
     .target = &S::rocksdb_blob_min_size,
     .help = "Values of this many bytes or more are stored in blob files, which compactions do not copy; 0 stores all "
             "values with their keys. A change applies to values as they are flushed or compacted."},
    {.name = "rocksdb-blob-file-size", .section = kRocks, .kind = Kind::kMemory, .fallback = "64mb", .min = 1 << 20,
     .target = &S::rocksdb_blob_file_size,
     .help = "The largest blob file. A flush begins a file of its own, so most are as large as a flush."},
    {.name = "rocksdb-blob-compression", .section = kRocks, .kind = Kind::kChoice, .fallback = "snappy",
     .choices = kBlobCompressions, .target = &S::rocksdb_blob_compression,
     .help = "Compression of each value in a blob file."},
    {.name = "blob-garbage-share", .section = kRocks, .kind = Kind::kNumber, .fallback = "20", .min = 1, .max = 100,
     .target = &S::blob_garbage_share, .syntax = "<percent>",
     .help = "While more than this share of the bytes in blob files belongs to deleted and overwritten values, "
             "compactions copy the other values of the oldest files, so that these can be deleted. A low share costs "
             "more writes, a high one more space; 100 is never, except in COMPACT."},
    {.name = "blob-garbage-step", .section = kRocks, .kind = Kind::kMemory, .fallback = "0", .min = 0,
     .target = &S::blob_garbage_step,
     .help = "The bytes of values that one compaction copies from the oldest blob files, and so the pace of the "
             "collection; 0 is what two flushes write, and more the more garbage there is."},
    {.name = "rocksdb-bottom-compression", .section = kRocks, .kind = Kind::kChoice, .fallback = "zstd",
     .choices = kBottom, .flags = kStartOnly, .target = &S::rocksdb_bottom_compression,
     .help = "Compression of the last level, which holds most of the data; the others use Snappy, and the first none."},
    {.name = "rocksdb-direct-io", .section = kRocks, .kind = Kind::kBool, .fallback = "no", .flags = kStartOnly,
     .target = &S::rocksdb_direct_io,
     .help = "Read and write table files with direct I/O. The kernel's page cache then leaves more memory to other "
             "programs."},
};
// clang-format on

}  // namespace

std::span<const Directive> StorageDirectives() { return kRows; }

}  // namespace cairn
