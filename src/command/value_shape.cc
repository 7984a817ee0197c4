// SPDX-License-Identifier: BSD-3-Clause
#include "command/value_shape.h"

#include "types/string.h"

namespace cairn {
namespace {

// Redis shares one object among all uses of a small integer and answers this for it.
constexpr int64_t kSharedIntegers = 10000;
constexpr int64_t kSharedCount = INT32_MAX;

}  // namespace

std::string_view EncodingName(const KeyEntry& entry) {
  const Encoding encoding = entry.encoding();
  const bool small = encoding != Encoding::kSpread && !entry.grown();
  switch (entry.type()) {
    case Type::kString: return StringEncodingName(entry);
    case Type::kList: return "quicklist";
    case Type::kSet: return small && encoding == Encoding::kIntegers ? "intset" : "hashtable";
    case Type::kZset: return small ? "listpack" : "skiplist";
    case Type::kHash:
      if (!small) return "hashtable";
      return entry.fields_expire_ms() == kNoExpiry ? "listpack" : "listpackex";
    case Type::kStream: return "stream";
    case Type::kNone: break;
  }
  return "unknown";
}

Result<int64_t> ReferenceCount(const KeyEntry& entry) {
  if (entry.type() != Type::kString || entry.encoding() != Encoding::kInteger) return int64_t{1};
  const int64_t value = TRY(ReadInteger(entry));
  return value >= 0 && value < kSharedIntegers ? kSharedCount : int64_t{1};
}

}  // namespace cairn
