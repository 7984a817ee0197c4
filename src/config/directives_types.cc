// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about encodings of collections, expiry and lazy freeing.
#include "config/directive.h"

namespace cairn {
namespace {

using S = Settings;
using L = Limits;

constexpr int64_t kMaxInt = INT32_MAX;
constexpr auto kTypes = Section::kTypes;
constexpr auto kExp = Section::kExpiry;

// clang-format off
const Directive kRows[] = {
    {.name = "hash-max-listpack-entries", .alias = "hash-max-ziplist-entries", .section = kTypes, .kind = Kind::kNumber,
     .fallback = "512", .target = &L::hash_max_listpack_entries,
     .help = "Most fields of a hash that is packed into one row."},
    {.name = "hash-max-listpack-value", .alias = "hash-max-ziplist-value", .section = kTypes, .kind = Kind::kMemory,
     .fallback = "64", .target = &L::hash_max_listpack_value,
     .help = "Most bytes of a field or a value in a packed hash."},
    {.name = "set-max-intset-entries", .section = kTypes, .kind = Kind::kNumber, .fallback = "512",
     .target = &L::set_max_intset_entries, .help = "Most members of a set of integers that is packed into one row."},
    {.name = "set-max-listpack-entries", .section = kTypes, .kind = Kind::kNumber, .fallback = "128",
     .target = &L::set_max_listpack_entries, .help = "Most members of any other set that is packed into one row."},
    {.name = "set-max-listpack-value", .section = kTypes, .kind = Kind::kMemory, .fallback = "64",
     .target = &L::set_max_listpack_value, .help = "Most bytes of a member of a packed set."},
    {.name = "zset-max-listpack-entries", .alias = "zset-max-ziplist-entries", .section = kTypes, .kind = Kind::kNumber,
     .fallback = "128", .target = &L::zset_max_listpack_entries,
     .help = "Most members of a sorted set that is packed into one row."},
    {.name = "zset-max-listpack-value", .alias = "zset-max-ziplist-value", .section = kTypes, .kind = Kind::kMemory,
     .fallback = "64", .target = &L::zset_max_listpack_value, .help = "Most bytes of a member of a packed sorted set."},
    {.name = "list-max-listpack-size", .alias = "list-max-ziplist-size", .section = kTypes, .kind = Kind::kNumber,
     .fallback = "-2", .min = INT32_MIN, .max = kMaxInt, .target = &L::list_max_listpack_size,
     .help = "Most elements of a list that is packed into one row; -1 to -5 limit its bytes instead: 4, 8, 16, 32 and "
             "64 KB."},
    {.name = "packed-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "128kb", .min = 64,
     .target = &L::packed_max_bytes,
     .help = "Most bytes of any packed collection, whatever the limits above allow: it is rewritten as a whole when "
             "one element changes."},
    {.name = "packed-large-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "12kb", .min = 0,
     .target = &L::packed_large_max_bytes,
     .help = "A hash, set or sorted set beyond a limit of entries or of an element's length above stays packed "
             "while it has at most this many bytes, at most 1 KB and 32 bytes for each element, and at most 1,024 "
             "elements. OBJECT ENCODING shows Redis's large encoding for it. It takes less than half of the disk "
             "space and is read by one read, but one changed element rewrites all its bytes, in memory and in the "
             "log. 0 packs none."},
    {.name = "list-compress-depth", .section = kTypes, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = kMaxInt,
     .help = "Accepted and shown, without effect: RocksDB compresses all levels but the first."},
    {.name = "hll-sparse-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "3000", .min = 0,
     .target = &L::hll_sparse_max_bytes,
     .help = "Most bytes of a HyperLogLog that is stored as runs of equal registers; a longer one stores all its "
             "registers, 12 KB."},
    {.name = "stream-node-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "4kb", .min = 0,
     .target = &L::stream_node_max_bytes,
     .help = "Most bytes of stream entries that share a row, 2048 at most; 0 sets no limit besides that."},
    {.name = "stream-node-max-entries", .section = kTypes, .kind = Kind::kNumber, .fallback = "100", .min = 0,
     .target = &L::stream_node_max_entries, .help = "Most entries of a stream that share a row; 0 sets no limit."},
    {.name = "stream-idmp-duration", .section = kTypes, .kind = Kind::kNumber, .fallback = "100", .min = 1,
     .max = 86400, .target = &L::stream_idmp_duration_s,
     .help = "For how many seconds a stream recognizes an entry that a producer adds again (XADD IDMP). A stream takes "
             "this value with its first such entry; XCFGSET changes it."},
    {.name = "stream-idmp-maxsize", .section = kTypes, .kind = Kind::kNumber, .fallback = "100", .min = 1, .max = 10000,
     .target = &L::stream_idmp_maxsize,
     .help = "How many ids of each producer a stream keeps, as `stream-idmp-duration`."},

    {.name = "active-expire-effort", .section = kExp, .kind = Kind::kNumber, .fallback = "1", .min = 1, .max = 10,
     .target = &S::active_expire_effort, .help = "The most expired keys that one round deletes, in units of 10,000."},
    {.name = "lazyfree-lazy-expire", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Whether replicas get UNLINK or DEL for an expired key. Otherwise without effect: deleting a collection "
             "of any size takes one write, and compactions drop its rows later."},
    {.name = "lazyfree-lazy-server-del", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Accepted and shown, without effect."},
    {.name = "lazyfree-lazy-user-del", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Whether replicas get UNLINK or DEL for a key that GETDEL has deleted."},
    {.name = "lazyfree-lazy-user-flush", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Accepted and shown, without effect."},
    {.name = "lazyfree-lazy-eviction", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Accepted and shown, without effect: a key of any size is evicted by one write."},
    {.name = "lfu-log-factor", .section = kExp, .kind = Kind::kNumber, .fallback = "10", .min = 0, .max = kMaxInt,
     .help = "Accepted and shown, without effect: counters of accesses always grow and fade as with the defaults."},
    {.name = "lfu-decay-time", .section = kExp, .kind = Kind::kNumber, .fallback = "1", .min = 0, .max = kMaxInt,
     .help = "Accepted and shown, without effect; see `lfu-log-factor`."},
};
// clang-format on

}  // namespace

std::span<const Directive> TypeDirectives() { return kRows; }

}  // namespace cairn
