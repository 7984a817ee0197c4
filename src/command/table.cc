// SPDX-License-Identifier: BSD-3-Clause
#include "command/table.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"

namespace cairn {
namespace {

constexpr size_t kLongestName = 128;

const Command* SubcommandOr(const Command* command, std::span<const std::string_view> argv) {
  if (command == nullptr || command->subcommands().empty() || argv.size() < 2) return command;
  for (const Command& child : command->subcommands()) {
    if (EqualsIgnoreCase(child.row().name, argv[1])) return &child;
  }
  return command;
}

std::string Lowered(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

// The index of a spec's first key, or 0 if its keyword is not among the arguments.
size_t FindBegin(const KeySpec& spec, std::span<const std::string_view> argv) {
  if (spec.keyword.empty()) return static_cast<size_t>(spec.begin);
  if (spec.begin >= 0) {
    for (size_t i = static_cast<size_t>(spec.begin); i + 1 < argv.size(); ++i) {
      if (EqualsIgnoreCase(argv[i], spec.keyword)) return i + 1;
    }
    return 0;
  }
  for (auto i = static_cast<ptrdiff_t>(argv.size()) + spec.begin; i > 0; --i) {
    if (EqualsIgnoreCase(argv[static_cast<size_t>(i)], spec.keyword)) return static_cast<size_t>(i) + 1;
  }
  return 0;
}

bool FindCounted(const KeySpec& spec, std::span<const std::string_view> argv, size_t begin,
                 std::vector<uint32_t>& positions) {
  const size_t count_at = begin + static_cast<size_t>(spec.keynum);
  const size_t first = begin + static_cast<size_t>(spec.first_after_keynum);
  if (count_at >= argv.size()) return false;
  const auto count = ParseInt64(argv[count_at]);
  const auto step = static_cast<size_t>(spec.step);
  const size_t most = first < argv.size() ? (argv.size() - first + step - 1) / step : 0;
  if (!count || *count < 0 || *count > static_cast<int64_t>(most)) return false;
  for (size_t i = 0; i < static_cast<size_t>(*count); ++i) {
    positions.push_back(static_cast<uint32_t>(first + i * step));
  }
  return true;
}

bool FindSpec(const KeySpec& spec, std::span<const std::string_view> argv, std::vector<uint32_t>& positions) {
  const size_t begin = FindBegin(spec, argv);
  if (begin == 0) return true;
  if (spec.keynum >= 0) return FindCounted(spec, argv, begin, positions);
  if (begin >= argv.size()) return spec.last < 0;  // a range to the end may be empty
  size_t last = begin + static_cast<size_t>(std::max<int16_t>(spec.last, 0));
  if (spec.last < 0) {
    const size_t after = argv.size() - begin;
    const size_t span = spec.limit > 1 ? after / static_cast<size_t>(spec.limit) : after;
    const auto cut = static_cast<size_t>(-spec.last - 1);
    if (span <= cut) return false;
    last = begin + span - cut - 1;
  }
  if (last >= argv.size()) return false;
  for (size_t i = begin; i <= last; i += static_cast<size_t>(spec.step)) {
    positions.push_back(static_cast<uint32_t>(i));
  }
  return true;
}

// Whether the command has one key, whose position and use do not depend on the arguments.
bool IsOnlyKey(const CommandRow& row) {
  const KeySpec& spec = row.keys[0];
  const bool stands_still = spec.begin > 0 && spec.keyword.empty() && spec.last == 0 && spec.keynum < 0;
  const bool depends = row.find_keys != nullptr || spec.unknown || (spec.flags & (kNotKey | kVariableFlags));
  return stands_still && !depends && !row.keys[1].IsUsed();
}

}  // namespace

Command::Command(const CommandRow& row, const Command* parent) : row_(row), parent_(parent) {
  full_name_ = parent == nullptr ? std::string(row.name) : fmt::format("{}|{}", parent->row().name, row.name);
  for (const KeySpec& spec : row.keys) has_keys_ |= spec.IsUsed() && !(spec.flags & kNotKey);
  if (IsOnlyKey(row)) only_key_ = {static_cast<uint32_t>(row.keys[0].begin), row.keys[0].flags};
}

bool Command::AcceptsArity(size_t count) const {
  const auto n = static_cast<int64_t>(count);
  return row_.arity >= 0 ? n == row_.arity : n >= -row_.arity;
}

bool Command::FindKeys(std::span<const std::string_view> argv, std::vector<uint32_t>& positions) const {
  return FindPositions(argv, kNotKey, positions);
}

bool Command::FindSlotted(std::span<const std::string_view> argv, std::vector<uint32_t>& positions) const {
  return FindPositions(argv, 0, positions);
}

// `left_out`: specs with one of these flags are skipped.
bool Command::FindPositions(std::span<const std::string_view> argv, uint16_t left_out,
                            std::vector<uint32_t>& positions) const {
  if (row_.find_keys != nullptr) {
    std::vector<KeyUse> uses;
    const bool found = row_.find_keys(argv, uses);
    for (const KeyUse& use : uses) positions.push_back(use.position);
    return found;
  }
  for (const KeySpec& spec : row_.keys) {
    if (!spec.IsUsed()) break;
    if ((spec.flags & left_out) || spec.unknown) continue;
    if (!FindSpec(spec, argv, positions)) return false;
  }
  return true;
}

bool Command::FindKeyUses(std::span<const std::string_view> argv, std::vector<KeyUse>& uses) const {
  if (row_.find_keys != nullptr) return row_.find_keys(argv, uses);
  std::vector<uint32_t> positions;
  for (const KeySpec& spec : row_.keys) {
    if (!spec.IsUsed()) break;
    if ((spec.flags & kNotKey) || spec.unknown) continue;
    positions.clear();
    if (!FindSpec(spec, argv, positions)) return false;
    const bool counts_none = positions.empty() && spec.keynum >= 0 && FindBegin(spec, argv) != 0;
    if (counts_none) return false;
    const bool varies = (spec.flags & kVariableFlags) && row_.key_flags != nullptr;
    const uint16_t flags = varies ? row_.key_flags(argv) : spec.flags;
    for (const uint32_t position : positions) uses.push_back({position, flags});
  }
  return true;
}

struct CommandTable::Slots {
  std::vector<std::unique_ptr<Command>> owned;
  absl::flat_hash_map<std::string, const Command*> by_name;
  absl::flat_hash_map<std::string, const Command*> given_up;  // names that Rename removed
};

CommandTable::CommandTable(std::span<const std::span<const CommandRow>> families) : slots_(std::make_unique<Slots>()) {
  for (const std::span<const CommandRow>& family : families) {
    for (const CommandRow& row : family) {
      auto command = std::make_unique<Command>(row, nullptr);
      command->index_ = index_count_++;
      for (const CommandRow& child_row : row.subcommands) {
        command->subcommands_.emplace_back(child_row, command.get());
        command->subcommands_.back().index_ = index_count_++;
      }
      ASSERT(slots_->by_name.emplace(command->full_name(), command.get()).second, "a command has one row");
      slots_->owned.push_back(std::move(command));
    }
  }
  for (const auto& command : slots_->owned) {
    commands_.push_back(command.get());
    by_index_.push_back(command.get());
    for (const Command& child : command->subcommands()) by_index_.push_back(&child);
  }
  std::sort(commands_.begin(), commands_.end(),
            [](const Command* a, const Command* b) { return a->full_name() < b->full_name(); });
}

CommandTable::~CommandTable() = default;

const Command* CommandTable::Find(std::string_view name) const {
  if (name.size() > kLongestName) return nullptr;
  char lower[kLongestName];
  for (size_t i = 0; i < name.size(); ++i) {
    lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] + 32) : name[i];
  }
  const auto found = slots_->by_name.find(absl::string_view(lower, name.size()));
  return found == slots_->by_name.end() ? nullptr : found->second;
}

const Command* CommandTable::Resolve(std::span<const std::string_view> argv) const {
  return SubcommandOr(argv.empty() ? nullptr : Find(argv[0]), argv);
}

const Command* CommandTable::ResolveAny(std::span<const std::string_view> argv) const {
  const Command* const found = Resolve(argv);
  if (found != nullptr || argv.empty() || slots_->given_up.empty()) return found;
  const auto former = slots_->given_up.find(Lowered(argv[0]));
  return former == slots_->given_up.end() ? nullptr : SubcommandOr(former->second, argv);
}

void CommandTable::BindParts(std::span<const CommandRow> rows, void* parts, const void* tag) {
  const auto bind = [&](Command& command) {
    const void* const taken = command.row().run.parts_tag();
    ASSERT(taken == nullptr || taken == tag, "a function is given the parts that it takes");
    command.parts_ = parts;
  };
  for (const auto& command : slots_->owned) {
    const auto is_its_row = [&](const CommandRow& row) { return row.name == command->row().name; };
    if (std::none_of(rows.begin(), rows.end(), is_its_row)) continue;
    bind(*command);
    for (Command& child : command->subcommands_) bind(child);
  }
}

bool CommandTable::IsBound() const {
  return std::none_of(by_index_.begin(), by_index_.end(), [](const Command* command) {
    return command->row().run.parts_tag() != nullptr && command->parts() == nullptr;
  });
}

Status CommandTable::Rename(std::string_view name, std::string_view as) {
  const Command* const command = Find(name);
  if (command == nullptr) return Status::Reply("No such command in rename-command");
  if (as.size() > kLongestName) return Status::Reply("Target command name is too long");
  slots_->by_name.erase(Lowered(name));
  slots_->given_up.emplace(Lowered(name), command);
  if (as.empty()) {
    std::erase(commands_, command);
  } else if (!slots_->by_name.emplace(Lowered(as), command).second) {
    return Status::Reply("Target command name already exists");
  }
  return Ok();
}

}  // namespace cairn
