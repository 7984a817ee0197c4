// SPDX-License-Identifier: BSD-3-Clause
//
// Reply: a reply of a command as a tree, made by the model or parsed from RESP2, and the comparison of both.
//
// Thread: a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::simulation {

struct Reply {
  enum class Kind : unsigned char { kSimple, kError, kInteger, kBulk, kNil, kArray, kWaits };
  Kind kind = Kind::kNil;
  std::string text = {};  // of an error only its first word counts
  std::vector<Reply> items = {};
  size_t unordered_group = 0;  // the items are groups of so many in any order; 0: they are in order
};

inline Reply Simple(std::string text) { return {Reply::Kind::kSimple, std::move(text)}; }
inline Reply Failure(std::string text) { return {Reply::Kind::kError, std::move(text)}; }
inline Reply Integer(int64_t value) { return {Reply::Kind::kInteger, std::to_string(value)}; }
inline Reply Bulk(std::string text) { return {Reply::Kind::kBulk, std::move(text)}; }
inline Reply Nil() { return {}; }
inline Reply Array(std::vector<Reply> items) { return {Reply::Kind::kArray, {}, std::move(items)}; }
inline Reply Unordered(std::vector<Reply> items, size_t group = 1) {
  return {Reply::Kind::kArray, {}, std::move(items), group};
}

// Parses one reply of RESP2 from the front of `bytes`.
Reply ParseReply(std::string_view& bytes);

// Whether `actual` is what `expected` describes.
bool Matches(const Reply& expected, const Reply& actual);

// One line, for a report.
std::string ToText(const Reply& reply);

}  // namespace cairn::simulation
