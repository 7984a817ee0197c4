// SPDX-License-Identifier: BSD-3-Clause
//
// The rules for every row of the command table, and how keys are found among arguments.
#include "command/table.h"

#include <gtest/gtest.h>

#include <functional>

#include "command/acl_categories.h"
#include "command/syntax.h"
#include "server/families.h"

namespace cairn {
namespace {

class Table : public testing::Test {
 protected:
  void ForEach(const std::function<void(const Command&)>& check) {
    for (const Command* command : table_.commands()) {
      SCOPED_TRACE(command->full_name());
      check(*command);
      for (const Command& child : command->subcommands()) {
        SCOPED_TRACE(child.full_name());
        check(child);
      }
    }
  }

  const CommandTable table_{AllFamilies()};
};

TEST_F(Table, RowsAreComplete) {
  ForEach([](const Command& command) {
    const CommandRow& row = command.row();
    EXPECT_NE(row.arity, 0);
    EXPECT_TRUE(row.run != nullptr || command.Has(kSubcommands));
    EXPECT_FALSE(row.since.empty());
    EXPECT_FALSE(row.complexity.empty());
    EXPECT_FALSE(row.summary.empty());
    EXPECT_FALSE(command.Has(kWrite) && command.Has(kReadonly));
    EXPECT_EQ(command.Has(kSubcommands), !row.subcommands.empty());
    EXPECT_NE(AclCategoriesOf(command), 0u);
  });
}

// The minimum number of arguments that a usage line allows, and whether it allows more.
struct Range {
  size_t least = 0;
  bool open = false;
};

Range RangeOf(const std::vector<Argument>& arguments);

Range RangeOf(const Argument& argument) {
  Range range;
  if (argument.type == ArgumentType::kBlock) {
    range = RangeOf(argument.arguments);
  } else if (argument.type == ArgumentType::kOneOf) {
    range.least = SIZE_MAX;
    for (const Argument& choice : argument.arguments) {
      const Range one = RangeOf(choice);
      range.open |= one.open || (range.least != SIZE_MAX && one.least != range.least);
      range.least = std::min(range.least, one.least);
    }
  } else if (argument.type != ArgumentType::kPureToken) {
    range.least = 1;
  }
  range.least += argument.token.empty() ? 0 : 1;
  if (argument.optional) range.least = 0;
  range.open |= argument.optional || argument.multiple;
  return range;
}

Range RangeOf(const std::vector<Argument>& arguments) {
  Range sum;
  for (const Argument& argument : arguments) {
    const Range one = RangeOf(argument);
    sum.least += one.least;
    sum.open |= one.open;
  }
  return sum;
}

// A usage line must agree with the arity: one that requires more or less, or allows arguments that are refused,
// misleads its readers. An arity may allow more: QUIT accepts and ignores any arguments.
TEST_F(Table, UsageLinesAgreeWithArity) {
  ForEach([](const Command& command) {
    const CommandRow& row = command.row();
    if (command.Has(kSubcommands)) return;
    const auto arguments = ParseSyntax(row);
    ASSERT_TRUE(arguments.ok()) << arguments.status().text();
    const Range range = RangeOf(*arguments);
    const auto names = static_cast<int>(command.parent() == nullptr ? 1 : 2);
    const int least = names + static_cast<int>(range.least);
    // Redis and Valkey reply to fewer with errors of their own.
    if (command.full_name() == "hotkeys|start" || command.full_name() == "cluster|migrateslots") return;
    EXPECT_EQ(std::abs(row.arity), least) << row.syntax;
    if (range.open) {
      EXPECT_LT(row.arity, 0) << row.syntax;
    }
  });
}

// COMMAND DOCS must describe the same keys that the key specs find.
TEST_F(Table, UsageLinesNameAKeyForEverySpec) {
  ForEach([](const Command& command) {
    const auto arguments = ParseSyntax(command.row());
    ASSERT_TRUE(arguments.ok());
    uint32_t specs = 0;
    const std::function<void(const std::vector<Argument>&)> collect = [&](const auto& list) {
      for (const Argument& argument : list) {
        if (argument.type == ArgumentType::kKey) {
          EXPECT_GE(argument.key_spec, 0) << argument.name;
        }
        if (argument.key_spec >= 0) specs |= 1u << argument.key_spec;
        collect(argument.arguments);
      }
    };
    collect(*arguments);
    for (size_t i = 0; i < std::size(command.row().keys); ++i) {
      const KeySpec& spec = command.row().keys[i];
      // A shard channel is found like a key but is not one.
      const bool used = spec.IsUsed() && !(spec.flags & kNotKey);
      EXPECT_EQ(used, (specs >> i & 1) != 0) << "key spec " << i;
    }
  });
}

TEST_F(Table, FindsCommandsIgnoringCase) {
  ASSERT_NE(table_.Find("GeT"), nullptr);
  EXPECT_EQ(table_.Find("GeT")->full_name(), "get");
  EXPECT_EQ(table_.Find("nosuch"), nullptr);
  EXPECT_EQ(table_.Find(std::string(1000, 'x')), nullptr);
}

TEST_F(Table, ResolvesSubcommands) {
  const std::string_view freq[] = {"OBJECT", "FREQ", "k"};
  EXPECT_EQ(table_.Resolve(freq)->full_name(), "object|freq");
  const std::string_view unknown[] = {"object", "nosuch"};
  EXPECT_EQ(table_.Resolve(unknown)->full_name(), "object");
}

std::string KeysOf(const CommandTable& table, std::vector<std::string_view> argv) {
  std::vector<uint32_t> positions;
  if (!table.Resolve(argv)->FindKeys(argv, positions)) return "invalid";
  std::string text;
  for (const uint32_t position : positions) text += (text.empty() ? "" : " ") + std::string(argv[position]);
  return text;
}

TEST_F(Table, FindsKeysAmongArguments) {
  EXPECT_EQ(KeysOf(table_, {"get", "a"}), "a");
  EXPECT_EQ(KeysOf(table_, {"mset", "a", "1", "b", "2"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"copy", "a", "b", "db", "2"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"object", "encoding", "a"}), "a");
  EXPECT_EQ(KeysOf(table_, {"zunionstore", "d", "2", "a", "b", "weights", "1", "2"}), "d a b");
  EXPECT_EQ(KeysOf(table_, {"zunionstore", "d", "3", "a", "b"}), "invalid");
  EXPECT_EQ(KeysOf(table_, {"zunionstore", "d", "x", "a"}), "invalid");
  EXPECT_EQ(KeysOf(table_, {"blpop", "a", "b", "0"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"dbsize"}), "");
  EXPECT_EQ(KeysOf(table_, {"sort", "a", "by", "w_*"}), "a");
  EXPECT_EQ(KeysOf(table_, {"sort", "a", "limit", "store", "b"}), "a");
  EXPECT_EQ(KeysOf(table_, {"sort", "a", "store", "b", "get", "store", "desc"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"sort", "a", "store", "by", "store", "c"}), "a c");
  EXPECT_EQ(KeysOf(table_, {"sort_ro", "a", "by", "w_*"}), "a");
  EXPECT_EQ(KeysOf(table_, {"pfmerge", "a"}), "a");
  EXPECT_EQ(KeysOf(table_, {"pfmerge", "a", "b", "c"}), "a b c");
}

// An argument that looks like an option, and the last of several options of a kind.
TEST_F(Table, FindsKeysBehindOptions) {
  EXPECT_EQ(KeysOf(table_, {"xread", "count", "1", "streams", "a", "b", "0", "0"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"xreadgroup", "group", "g", "streams", "streams", "a", ">"}), "a");
  EXPECT_EQ(KeysOf(table_, {"xreadgroup", "count", "1", "group", "g", "streams", "streams", "a", ">"}), "a");
  EXPECT_EQ(KeysOf(table_, {"xreadgroup", "noack", "group", "streams", "c", "streams", "a", ">"}), "a");
  EXPECT_EQ(KeysOf(table_, {"xreadgroup", "group", "g", "c", "count", "1", "noack"}), "invalid");
  EXPECT_EQ(KeysOf(table_, {"georadius", "a", "0", "0", "1", "m", "store", "b", "store", "c"}), "a c");
  EXPECT_EQ(KeysOf(table_, {"georadius", "a", "0", "0", "1", "m", "storedist", "store", "count", "1"}), "a store");
  EXPECT_EQ(KeysOf(table_, {"georadiusbymember", "a", "store", "1", "m", "asc", "store", "c"}), "a c");
}

// Keys and values alternate, so half of the rest are keys.
TEST_F(Table, CountsNoMoreKeysThanThereAre) {
  EXPECT_EQ(KeysOf(table_, {"msetex", "2", "a", "1", "b", "2"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"msetex", "2", "a", "1", "b"}), "a b");
  EXPECT_EQ(KeysOf(table_, {"msetex", "2", "a", "1"}), "invalid");
  EXPECT_EQ(KeysOf(table_, {"msetex", "3", "a", "1", "b"}), "invalid");
  EXPECT_EQ(KeysOf(table_, {"msetex", "9223372036854775807", "a", "1", "b"}), "invalid");
}

TEST_F(Table, ReturnsHowACallUsesItsKeys) {
  const auto flags_of = [&](std::vector<std::string_view> argv) {
    std::vector<KeyUse> uses;
    EXPECT_TRUE(table_.Resolve(argv)->FindKeyUses(argv, uses));
    EXPECT_EQ(uses.size(), 1u);
    return uses[0].flags;
  };
  EXPECT_EQ(flags_of({"set", "k", "v"}), kOW | kUpdate);
  EXPECT_EQ(flags_of({"set", "k", "v", "ex", "1", "GET"}), kRW | kAccess | kUpdate);
  EXPECT_EQ(flags_of({"get", "k"}), kRO | kAccess);
}

std::string CategoriesOf(const CommandTable& table, std::vector<std::string_view> argv) {
  const uint32_t bits = AclCategoriesOf(*table.Resolve(argv));
  std::string text;
  for (size_t i = 0; i < AclCategoryNames().size(); ++i) {
    if (bits >> i & 1) text += (text.empty() ? "" : " ") + std::string(AclCategoryNames()[i]);
  }
  return text;
}

TEST_F(Table, DerivesAclCategories) {
  EXPECT_EQ(CategoriesOf(table_, {"get"}), "read string fast");
  EXPECT_EQ(CategoriesOf(table_, {"del"}), "keyspace write slow");
  EXPECT_EQ(CategoriesOf(table_, {"flushall"}), "keyspace write slow dangerous");
  EXPECT_EQ(CategoriesOf(table_, {"object"}), "slow");
  EXPECT_EQ(CategoriesOf(table_, {"object", "freq"}), "keyspace read slow");
  EXPECT_EQ(CategoriesOf(table_, {"command", "docs"}), "slow connection");
  EXPECT_EQ(AclCategoryBit("STRING"), AclCategoryBit("string"));
  EXPECT_EQ(AclCategoryBit("@string"), 0u);
}

}  // namespace
}  // namespace cairn
