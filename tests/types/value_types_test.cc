// SPDX-License-Identifier: BSD-3-Clause
//
// The table of types has everything that commands and files need, for every type.
#include "types/value_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace cairn {
namespace {

// Clients compare the names that TYPE returns; a record has the number.
TEST(ValueTypes, HaveTheNamesOfTypeInTheOrderOfTheirNumbers) {
  std::vector<std::string_view> names;
  for (const ValueType* const row : ValueTypes()) {
    names.push_back(row->name);
    EXPECT_EQ(&ValueTypeOf(row->type), row);
    EXPECT_EQ(static_cast<size_t>(row->type), names.size()) << row->name;
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"string", "list", "set", "zset", "hash", "stream", "ReJSON-RL",
                                                  "MBbloom--", "MBbloomCF", "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE"}));
  EXPECT_EQ(names.size(), kTypeCount);
}

// A type without one of these works until a key of it is dumped, sized or digested.
TEST(ValueTypes, HaveEveryField) {
  for (const ValueType* const row : ValueTypes()) {
    SCOPED_TRACE(row->name);
    EXPECT_NE(row->encoding_name, nullptr);
    EXPECT_NE(row->references, nullptr);
    EXPECT_NE(row->size, nullptr);
    EXPECT_NE(row->row_bytes, nullptr);
    EXPECT_NE(row->add_to_digest, nullptr);
    EXPECT_NE(row->save, nullptr);
    EXPECT_NE(row->load, nullptr);
    EXPECT_FALSE(row->rdb_forms.empty());
    const bool has_parts = std::any_of(row->rdb_forms.begin(), row->rdb_forms.end(),
                                       [](const RdbForm& form) { return form.least_part_bytes > 0; });
    EXPECT_EQ(row->add_piece != nullptr, has_parts);
  }
}

TEST(ValueTypes, AreFoundByTheirNamesInAnyCase) {
  for (const ValueType* const row : ValueTypes()) {
    std::string name(row->name);
    name[0] = static_cast<char>(name[0] ^ 0x20);  // a letter in the other case
    EXPECT_EQ(FindValueType(name), row);
  }
  EXPECT_EQ(FindValueType("none"), nullptr);
  EXPECT_EQ(FindValueType(""), nullptr);
}

// Two types with the same number would read each other's payloads.
TEST(ValueTypes, HaveUniqueNumbers) {
  std::set<uint32_t> redis_numbers;
  std::set<RdbType> forms;
  for (const ValueType* const row : ValueTypes()) {
    EXPECT_TRUE(redis_numbers.insert(row->redis_number).second) << row->name;
    for (const RdbForm& form : row->rdb_forms) {
      const RdbType number = form.number;
      EXPECT_TRUE(forms.insert(number).second) << static_cast<int>(number);
      EXPECT_NE(form.read_part, nullptr);
      EXPECT_EQ(FindRdbForm(number).type, row);
      EXPECT_EQ(FindRdbForm(number).form, &form);
    }
  }
  EXPECT_EQ(FindRdbForm(RdbType{7}).form, nullptr) << "a module's";
}

}  // namespace
}  // namespace cairn
