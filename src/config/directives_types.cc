// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about how collections are kept, about expiry and lazy freeing.
#include "config/directive.h"

namespace cairn {
namespace {

using S = Settings;
using L = Limits;

constexpr int64_t kMaxInt = INT32_MAX;
constexpr auto kTypes = Section::kTypes;
constexpr auto kExp = Section::kExpiry;

const Directive kRows[] = {
    {.name = "hash-max-listpack-entries", .alias = "hash-max-ziplist-entries", .section = kTypes,
     .kind = Kind::kNumber, .fallback = "512", .target = &L::hash_max_listpack_entries,
     .help = "Fields up to which a hash is packed into one row."},
    {.name = "hash-max-listpack-value", .alias = "hash-max-ziplist-value", .section = kTypes,
     .kind = Kind::kMemory, .fallback = "64", .target = &L::hash_max_listpack_value,
     .help = "Bytes up to which a field and a value may be in a packed hash."},
    {.name = "set-max-intset-entries", .section = kTypes, .kind = Kind::kNumber, .fallback = "512",
     .target = &L::set_max_intset_entries,
     .help = "Members up to which a set of integers is packed into one row."},
    {.name = "set-max-listpack-entries", .section = kTypes, .kind = Kind::kNumber,
     .fallback = "128", .target = &L::set_max_listpack_entries,
     .help = "Members up to which any other set is packed into one row."},
    {.name = "set-max-listpack-value", .section = kTypes, .kind = Kind::kMemory, .fallback = "64",
     .target = &L::set_max_listpack_value,
     .help = "Bytes up to which a member may be in a packed set."},
    {.name = "zset-max-listpack-entries", .alias = "zset-max-ziplist-entries", .section = kTypes,
     .kind = Kind::kNumber, .fallback = "128", .target = &L::zset_max_listpack_entries,
     .help = "Members up to which a sorted set is packed into one row."},
    {.name = "zset-max-listpack-value", .alias = "zset-max-ziplist-value", .section = kTypes,
     .kind = Kind::kMemory, .fallback = "64", .target = &L::zset_max_listpack_value,
     .help = "Bytes up to which a member may be in a packed sorted set."},
    {.name = "list-max-listpack-size", .alias = "list-max-ziplist-size", .section = kTypes,
     .kind = Kind::kNumber, .fallback = "-2", .min = INT32_MIN, .max = kMaxInt,
     .target = &L::list_max_listpack_size,
     .help = "Elements up to which a list is packed into one row; -1 to -5 bound its bytes "
             "instead: 4, 8, 16, 32 and 64 KB."},
    {.name = "packed-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "128kb",
     .min = 64, .target = &L::packed_max_bytes,
     .help = "Bytes beyond which no collection stays in one row, whatever the limits above allow: "
             "a packed collection is rewritten as a whole when one element changes."},
    {.name = "list-compress-depth", .section = kTypes, .kind = Kind::kNumber, .fallback = "0",
     .min = 0, .max = kMaxInt,
     .help = "Accepted and shown, without effect: RocksDB compresses every block it writes."},
    {.name = "hll-sparse-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "3000",
     .min = 0, .target = &L::hll_sparse_max_bytes,
     .help = "Bytes up to which a HyperLogLog is kept as runs of equal registers; a longer one has "
             "all of its registers, 12 KB."},
    {.name = "stream-node-max-bytes", .section = kTypes, .kind = Kind::kMemory, .fallback = "4kb",
     .min = 0, .target = &L::stream_node_max_bytes,
     .help = "Bytes up to which entries of a stream share a row, 2048 at most; 0 sets no limit "
             "besides that."},
    {.name = "stream-node-max-entries", .section = kTypes, .kind = Kind::kNumber, .fallback = "100",
     .min = 0, .target = &L::stream_node_max_entries,
     .help = "Entries of a stream up to which they share a row; 0 sets no limit."},

    {.name = "active-expire-effort", .section = kExp, .kind = Kind::kNumber, .fallback = "1",
     .min = 1, .max = 10, .target = &S::active_expire_effort,
     .help = "How much of the timer's time goes into deleting keys that are past their expiry; 10 "
             "deletes most in one go."},
    {.name = "lazyfree-lazy-expire", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Deleting a collection of any size takes one write and its rows go later, so lazy and "
             "not lazy are the same here; it decides whether replicas are told DEL or UNLINK of a "
             "key that has expired."},
    {.name = "lazyfree-lazy-server-del", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Accepted and shown, without effect."},
    {.name = "lazyfree-lazy-user-del", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "The same as for expired keys, of GETDEL."},
    {.name = "lazyfree-lazy-user-flush", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Accepted and shown, without effect."},
    {.name = "lazyfree-lazy-eviction", .section = kExp, .kind = Kind::kBool, .fallback = "no",
     .help = "Accepted and shown, without effect: nothing is evicted."},
    {.name = "lfu-log-factor", .section = kExp, .kind = Kind::kNumber, .fallback = "10", .min = 0,
     .max = kMaxInt,
     .help = "Accepted and shown, without effect: the key cache keeps no access counters per key."},
    {.name = "lfu-decay-time", .section = kExp, .kind = Kind::kNumber, .fallback = "1", .min = 0,
     .max = kMaxInt, .help = "Accepted and shown, without effect; see `lfu-log-factor`."},
};

}  // namespace

std::span<const Directive> TypeDirectives() { return kRows; }

}  // namespace cairn
