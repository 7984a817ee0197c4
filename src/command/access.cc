// SPDX-License-Identifier: BSD-3-Clause
#include "command/access.h"

#include "base/number.h"
#include "base/words.h"
#include "command/acl_categories.h"

namespace cairn {
namespace {

uint8_t AccessOf(uint16_t key_flags) {
  uint8_t access = 0;
  if (key_flags & kAccess) access |= kReadsKey;
  if (key_flags & (kInsert | kDelete | kUpdate)) access |= kWritesKey;
  return access;
}

// The keys of a call, found when a selector first needs them.
class CalledKeys {
 public:
  CalledKeys(const Command& command, std::span<const std::string_view> argv) : command_(command), argv_(argv) {}

  std::span<const KeyUse> Get() {
    if (const KeyUse& only = command_.only_key(); only.position != 0) {
      return {&only, only.position < argv_.size() ? 1u : 0u};
    }
    if (is_known_) return uses_;
    is_known_ = true;
    // If the arguments do not determine the keys, the command itself replies with an error, so no key is denied.
    if (command_.has_keys() && !command_.FindKeyUses(argv_, uses_)) uses_.clear();
    return uses_;
  }

 private:
  const Command& command_;
  const std::span<const std::string_view> argv_;
  bool is_known_ = false;
  std::vector<KeyUse> uses_;
};

// The arguments in which a call names channels to publish or subscribe to.
struct NamedChannels {
  size_t begin = 0;
  size_t end = 0;
  bool are_patterns = false;
};

NamedChannels ChannelsOf(const Command& command, size_t argc) {
  const std::string_view name = command.row().name;
  if (name == "publish" || name == "spublish") return {1, 2, false};
  if (name == "subscribe" || name == "ssubscribe") return {1, argc, false};
  if (name == "psubscribe") return {1, argc, true};
  return {};
}

Denial CheckChannels(const Selector& selector, const Command& command, std::span<const std::string_view> argv) {
  if (!command.Has(kPubsub)) return {};
  const NamedChannels channels = ChannelsOf(command, argv.size());
  for (size_t i = channels.begin; i < channels.end; ++i) {
    if (!selector.AllowsChannel(argv[i], channels.are_patterns)) {
      return {DenialReason::kChannel, static_cast<uint32_t>(i)};
    }
  }
  return {};
}

// Whether a command reads or writes the current database, as Valkey defines it.
bool UsesCurrentDatabase(const Command& command) {
  if (command.row().name == "flushall" || command.row().name == "swapdb") return false;
  return command.has_keys() || command.flags() & (kWrite | kReadonly | kRunsScript);
}

// The arguments in which a call names databases. An argument that is no number is the command's error.
void FindDatabases(const Command& command, std::span<const std::string_view> argv, std::vector<uint32_t>& positions) {
  const std::string_view name = command.row().name;
  if (command.parent() != nullptr) return;
  if (name == "select") positions = {1};
  if (name == "swapdb") positions = {1, 2};
  if (name == "move") positions = {2};
  if (name != "copy") return;
  for (uint32_t i = 3; i + 1 < argv.size(); ++i) {
    if (EqualsIgnoreCase(argv[i], "db")) positions.push_back(++i);
  }
}

Denial CheckDatabases(const Selector& selector, int64_t db, const Command& command,
                      std::span<const std::string_view> argv) {
  if (selector.allows_all_databases()) return {};
  if (UsesCurrentDatabase(command) && !selector.AllowsDatabase(db)) return {DenialReason::kDatabase};
  if (command.row().name == "flushall") return {DenialReason::kDatabase};
  std::vector<uint32_t> positions;
  FindDatabases(command, argv, positions);
  for (const uint32_t position : positions) {
    const auto named = position < argv.size() ? ParseInt64(argv[position]) : std::nullopt;
    if (named && !selector.AllowsDatabase(*named)) return {DenialReason::kDatabase, position};
  }
  return {};
}

Denial CheckSelector(const Selector& selector, int64_t db, const Command& command,
                     std::span<const std::string_view> argv, CalledKeys& keys) {
  if (!command.Has(kNoAuth)) {
    const std::string_view first = argv.size() > 1 ? argv[1] : std::string_view();
    if (!selector.commands().Allows(command.index(), first)) return {DenialReason::kCommand};
  }
  if (const Denial denial = CheckDatabases(selector, db, command, argv)) return denial;
  if (selector.AllowsEveryKey(kReadsKey | kWritesKey)) return CheckChannels(selector, command, argv);
  for (const KeyUse& use : keys.Get()) {
    if (use.flags & kNotKey) continue;
    if (!selector.AllowsKey(argv[use.position], AccessOf(use.flags))) {
      return {DenialReason::kKey, use.position};
    }
  }
  return CheckChannels(selector, command, argv);
}

Denial CheckRules(const UserRules& rules, int64_t db, const Command& command, std::span<const std::string_view> argv) {
  CalledKeys keys(command, argv);
  Denial told;  // the root selector sets it
  for (const Selector& selector : rules.selectors()) {
    const Denial denial = CheckSelector(selector, db, command, argv, keys);
    if (!denial) return denial;
    const bool outweighs =
        denial.reason > told.reason || (denial.reason == told.reason && denial.position > told.position);
    if (outweighs) told = denial;
  }
  return told;
}

}  // namespace

Catalogue MakeCatalogue(const CommandTable& table) {
  std::vector<CatalogueEntry> entries(table.index_count());
  for (uint32_t id = 0; id < table.index_count(); ++id) {
    const Command& command = *table.ByIndex(id);
    CatalogueEntry& entry = entries[id];
    entry.name = command.full_name();
    entry.is_subcommand = command.parent() != nullptr;
    entry.categories = AclCategoriesOf(command);
    for (const Command& child : command.subcommands()) entry.children.push_back(child.index());
  }
  const auto names = AclCategoryNames();
  return Catalogue(std::move(entries), {names.begin(), names.end()});
}

Denial CheckAccess(const AclUser& user, int64_t db, const Command& command, std::span<const std::string_view> argv) {
  if (user.is_unrestricted()) return {};
  return CheckRules(*user.rules(), db, command, argv);
}

Denial CheckAccess(Session& session, const Command& command, std::span<const std::string_view> argv) {
  if (session.login.account == nullptr || session.login.account->is_unrestricted()) return {};
  return CheckRules(session.login.rules(), session.db, command, argv);
}

bool MayReadAllKeys(const AclUser& user, int64_t db, const Command& command, std::span<const std::string_view> argv) {
  if (user.is_unrestricted()) return true;
  const auto rules = user.rules();
  const std::string_view first = argv.size() > 1 ? argv[1] : std::string_view();
  for (const Selector& selector : rules->selectors()) {
    const bool allows_rows = selector.AllowsDatabase(db) && selector.AllowsEveryKey(kReadsKey);
    if (allows_rows && selector.commands().Allows(command.index(), first)) return true;
  }
  return false;
}

std::optional<int> NamedDatabase(const Command& command, std::span<const std::string_view> argv, int databases) {
  std::vector<uint32_t> positions;
  FindDatabases(command, argv, positions);
  if (positions.empty() || positions.back() >= argv.size()) return std::nullopt;
  const auto named = ParseInt64(argv[positions.back()]);
  return named && *named >= 0 && *named < databases ? std::optional(static_cast<int>(*named)) : std::nullopt;
}

std::string_view DeniedObject(const Denial& denial, const Command& command, std::span<const std::string_view> argv) {
  if (denial.reason == DenialReason::kCommand) return command.full_name();
  return argv[denial.position];
}

std::string DenialText(const Denial& denial, std::string_view user, const Command& command) {
  switch (denial.reason) {
    case DenialReason::kDatabase: return "No permissions to access database";
    case DenialReason::kKey: return "No permissions to access a key";
    case DenialReason::kChannel: return "No permissions to access a channel";
    default: return VerboseDenialText(denial, user, command.full_name());
  }
}

std::string VerboseDenialText(const Denial& denial, std::string_view user, std::string_view object) {
  const std::string start = "User " + std::string(user) + " has no permissions to ";
  const std::string quoted = "'" + std::string(object) + "'";
  switch (denial.reason) {
    case DenialReason::kDatabase: return start + "access database " + std::string(object);
    case DenialReason::kKey: return start + "access the " + quoted + " key";
    case DenialReason::kChannel: return start + "access the " + quoted + " channel";
    default: return start + "run the " + quoted + " command";
  }
}

std::string LateDenialText(const Denial& denial) {
  const std::string start =
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
      "call. This command is no longer allowed for the following reason: ";
  switch (denial.reason) {
    case DenialReason::kDatabase: return start + "no permission";
    case DenialReason::kKey: return start + "no permission to touch the specified keys";
    case DenialReason::kChannel: return start + "no permission to access one of the channels used as arguments";
    default: return start + "no permission to execute the command or subcommand";
  }
}

}  // namespace cairn
