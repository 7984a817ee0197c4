// SPDX-License-Identifier: BSD-3-Clause
//
// The command table: one constexpr row per command, next to its function. Arity, gates, locks, key extraction, COMMAND
// and its subcommands, ACL categories and the compatibility page all use this row. Few places ask for a command by its
// name: permissions for channels, redaction, scripts, CLIENT in a pause, and what a primary's stream may have.
//
// `rename-command` changes the word by which clients call a command. Users' rules, COMMAND and statistics keep using
// the name in its row.
//
// Thread: any; the table never changes after start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/args.h"
#include "encoding/record.h"
#include "resp/reply.h"

namespace cairn {

class CommandContext;

// A command's function. It reads and writes through ctx and appends one reply. It has no other effect and may run again
// from the start (kWouldWait). A returned error becomes the reply.
using CommandFunction = Status (*)(CommandContext& ctx, Args& args, Reply& reply);

// The function of a row, or none. If it takes the parts of its family (command/parts.h), it has the tag of their type.
class RunFunction {
 public:
  constexpr RunFunction(std::nullptr_t = nullptr) {}
  constexpr RunFunction(CommandFunction function, const void* parts_tag = nullptr)
      : function_(function), parts_tag_(parts_tag) {}
  Status operator()(CommandContext& ctx, Args& args, Reply& reply) const { return function_(ctx, args, reply); }
  constexpr bool operator==(std::nullptr_t) const { return function_ == nullptr; }
  constexpr const void* parts_tag() const { return parts_tag_; }

 private:
  CommandFunction function_ = nullptr;
  const void* parts_tag_ = nullptr;
};

// COMMAND's flags with Redis's names, then Cairn's own.
enum CommandFlag : uint64_t {
  kWrite = 1ull << 0,
  kReadonly = 1ull << 1,
  kDenyOom = 1ull << 2,
  kAdmin = 1ull << 3,
  kPubsub = 1ull << 4,
  kNoScript = 1ull << 5,
  kBlocking = 1ull << 6,
  kLoading = 1ull << 7,
  kStale = 1ull << 8,
  kSkipMonitor = 1ull << 9,
  kSkipSlowlog = 1ull << 10,
  kAsking = 1ull << 11,
  kFast = 1ull << 12,
  kNoAuth = 1ull << 13,
  kMayReplicate = 1ull << 14,
  kNoAsyncLoading = 1ull << 15,
  kNoMulti = 1ull << 16,
  kAllowBusy = 1ull << 17,
  kNoMandatoryKeys = 1ull << 18,
  kTouchesArbitraryKeys = 1ull << 19,
  kOnlySentinel = 1ull << 20,
  // Cairn's own flags, not shown by COMMAND:
  kSlowLane = 1ull << 24,        // starts where it may wait: it reads or writes without bound
  kLockAll = 1ull << 25,         // excludes all writers while it runs (FLUSHALL, SWAPDB)
  kSubcommands = 1ull << 26,     // a container: `run` is null, or runs if no subcommand is given
  kNotQueued = 1ull << 27,       // runs at once inside MULTI (EXEC, DISCARD, WATCH ...)
  kRunsQueue = 1ull << 28,       // runs the commands queued by MULTI: locks all their keys
  kForListener = 1ull << 29,     // allowed for a RESP2 client that has subscriptions
  kRunsScript = 1ull << 31,      // runs a script that calls commands: locks its keys unless it only reads
  kKeepsCaching = 1ull << 32,    // CLIENT CACHING stays in effect after its subcommands
  kAnswersTimeout = 1ull << 33,  // runs once more on a timeout, for its reply (WAIT)
  kRunsOnce = 1ull << 34,        // acts on another server, so it must not start over (MIGRATE)
  kKeepsAnswer = 1ull << 30,     // a read that may cache its result in the value (PFCOUNT): locks like a write
};

// Key spec flags (Redis's COMMAND documentation, "Key specifications").
enum KeyFlag : uint16_t {
  kRO = 1 << 0,
  kRW = 1 << 1,
  kOW = 1 << 2,
  kRM = 1 << 3,
  kAccess = 1 << 4,
  kUpdate = 1 << 5,
  kInsert = 1 << 6,
  kDelete = 1 << 7,
  kNotKey = 1 << 8,
  kIncomplete = 1 << 9,
  kVariableFlags = 1 << 10,
};

// The positions of keys among the arguments: starting at an index or after a keyword, a range or a counted run.
struct KeySpec {
  uint16_t flags = 0;
  int16_t begin = 0;              // index of the first key; 0: no keys (or after `keyword`)
  std::string_view keyword = {};  // begin after this word, searched from `begin` on (negative: backwards from the end)
  int16_t last = 0;               // range: last key relative to the first, negative from the end
  int16_t step = 1;
  int16_t limit = 0;               // range: 2 means half of the remaining arguments, and so on
  int16_t keynum = -1;             // counted run: index of the count relative to `begin`, -1 for a range
  int16_t first_after_keynum = 0;  // counted run: index of the first key relative to `begin`
  std::string_view notes = {};
  bool unknown = false;  // the position cannot be expressed; `keyword` is the option (or options, space-separated)
                         // whose argument leads to the keys

  bool IsUsed() const { return begin != 0 || !keyword.empty(); }
};

inline constexpr KeySpec OneKey(uint16_t flags, int16_t at = 1) { return {.flags = flags, .begin = at}; }
inline constexpr KeySpec KeysToEnd(uint16_t flags, int16_t from = 1, int16_t step = 1) {
  return {.flags = flags, .begin = from, .last = -1, .step = step};
}
inline constexpr KeySpec CountedKeys(uint16_t flags, int16_t at) {
  return {.flags = flags, .begin = at, .keynum = 0, .first_after_keynum = 1};
}

enum class Group : uint8_t {
  kGeneric,
  kString,
  kList,
  kSet,
  kSortedSet,
  kHash,
  kPubsub,
  kTransactions,
  kConnection,
  kServer,
  kScripting,
  kHyperloglog,
  kCluster,
  kSentinel,
  kGeo,
  kStream,
  kBitmap,
  kJson,   // commands of the module ReJSON
  kBloom,  // commands of the module bf, like those that follow
  kCuckoo,
  kCountMin,
  kTopK,
  kTDigest,
};

// A key among the arguments of one call, and its use (KeyFlag).
struct KeyUse {
  uint32_t position;
  uint16_t flags;
};

// The flags of a key spec marked kVariableFlags for one call.
using KeyFlagsFunction = uint16_t (*)(std::span<const std::string_view> argv);

// Appends the keys of a call of a command with unknown key specs, as far as its arguments name them. Returns false if
// they do not.
using FindKeysFunction = bool (*)(std::span<const std::string_view> argv, std::vector<KeyUse>& uses);

struct CommandRow {
  std::string_view name;  // lower case; a subcommand without its container's name
  int16_t arity = 0;      // including the name; -n: n or more
  uint64_t flags = 0;
  KeySpec keys[3] = {};  // a spec with begin 0 and no keyword is unused
  RunFunction run = nullptr;
  Group group = Group::kGeneric;
  std::string_view since = {};
  std::string_view summary = {};  // one line in our own words
  std::string_view complexity = {};
  // The arguments as a usage line: "key [NX | XX] seconds [LIMIT offset count] member [member ...]". Capitals are
  // literal tokens, brackets mark optional parts, bars alternatives, "..." repetition; command/syntax.h has the rest.
  // COMMAND DOCS is derived from it.
  std::string_view syntax = {};
  // Categories besides those implied by flags and group, e.g. "dangerous"; "-keyspace" removes an implied one.
  std::string_view acl = {};
  std::string_view tips = {};  // COMMAND's tips, space-separated
  std::span<const CommandRow> subcommands = {};
  std::string_view deprecated_since = {};  // Redis's version; empty: not deprecated
  std::string_view replaced_by = {};       // the command that replaces a deprecated one, in backquotes
  KeyFlagsFunction key_flags = nullptr;    // for specs with kVariableFlags
  FindKeysFunction find_keys = nullptr;    // replaces the specs
  // For a blocking command: the type that ends its wait; a key of another type leaves it blocked. kNone: it may block
  // on existing keys, and its function decides which keys end the wait.
  Type awaits = Type::kNone;
};

// A row with its full name and its parent.
class Command {
 public:
  Command(const CommandRow& row, const Command* parent);
  const CommandRow& row() const { return row_; }
  const std::string& full_name() const { return full_name_; }  // "get", "config|get"
  const Command* parent() const { return parent_; }
  // The container, or the command itself if it has none.
  const Command& top() const { return parent_ == nullptr ? *this : *parent_; }
  uint64_t flags() const { return row_.flags; }
  bool Has(CommandFlag flag) const { return row_.flags & flag; }
  const std::vector<Command>& subcommands() const { return subcommands_; }
  // The position in the table, dense from 0, including subcommands: an index for counters.
  uint32_t index() const { return index_; }
  // The parts bound to its family, for command/parts.h; null: none.
  void* parts() const { return parts_; }
  // Whether `count` arguments are valid, including the command's (and subcommand's) name.
  bool AcceptsArity(size_t count) const;
  // Appends the positions of the keys in argv. Returns false if the arguments do not determine them (bad count, too
  // few).
  bool FindKeys(std::span<const std::string_view> argv, std::vector<uint32_t>& positions) const;
  // The positions of all arguments that have a slot of a cluster: the keys and the shard channels.
  bool FindSlotted(std::span<const std::string_view> argv, std::vector<uint32_t>& positions) const;
  // Like FindKeys, with the use of each key. A count of zero keys returns false too, as in Redis.
  bool FindKeyUses(std::span<const std::string_view> argv, std::vector<KeyUse>& uses) const;
  bool has_keys() const { return has_keys_; }
  // The key of a command that always has one at the same position, as most do; position 0: no such key.
  const KeyUse& only_key() const { return only_key_; }

 private:
  friend class CommandTable;
  bool FindPositions(std::span<const std::string_view> argv, uint16_t left_out, std::vector<uint32_t>& positions) const;

  CommandRow row_;
  const Command* parent_;
  void* parts_ = nullptr;
  std::string full_name_;
  uint32_t index_ = 0;
  bool has_keys_ = false;
  KeyUse only_key_{};
  std::vector<Command> subcommands_;
};

class CommandTable {
 public:
  // Each family is the array of rows of one file.
  explicit CommandTable(std::span<const std::span<const CommandRow>> families);
  ~CommandTable();

  // From now on clients call the command `name` by the word `as`, and no longer by its name; an empty `as` disables it.
  // The error is part of a sentence. Must be called before any command runs.
  Status Rename(std::string_view name, std::string_view as);

  // Binds the parts to the functions of the family `rows`; asserts that the functions take parts with this tag. Must be
  // called before any command runs, by Bind in command/parts.h.
  void BindParts(std::span<const CommandRow> rows, void* parts, const void* tag);
  // Whether every function that takes parts has them.
  bool IsBound() const;

  // Finds a command by the word clients use, ignoring case; null if there is none. Does not resolve subcommands.
  const Command* Find(std::string_view name) const;
  // Finds a command, and resolves a container to the subcommand named in argv, if it exists.
  const Command* Resolve(std::span<const std::string_view> argv) const;
  // The same, but also finds names that Rename removed: for commands from other servers.
  const Command* ResolveAny(std::span<const std::string_view> argv) const;
  // The commands that clients can call, sorted by name.
  const std::vector<const Command*>& commands() const { return commands_; }
  uint32_t index_count() const { return index_count_; }
  // Finds a command by Command::index(), including subcommands; null beyond index_count().
  const Command* ByIndex(uint32_t index) const { return index < by_index_.size() ? by_index_[index] : nullptr; }

 private:
  struct Slots;
  std::unique_ptr<Slots> slots_;
  std::vector<const Command*> commands_;
  std::vector<const Command*> by_index_;
  uint32_t index_count_ = 0;
};

}  // namespace cairn
