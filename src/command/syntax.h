// SPDX-License-Identifier: BSD-3-Clause
//
// Syntax: parses a row's usage line into the arguments that COMMAND DOCS describes.
//
//   key value [NX | XX] [EX seconds | KEEPTTL] [member [member ...]]
//
//   word        lower case: an argument, by its name. The name implies the type, or the type follows
//               a colon ("increment:double").
//   WORD        no lower case: a literal token. It belongs to the arguments behind it, up to the
//               next token or the next optional part that starts with one.
//   [a b]       optional
//   <a | b>     a choice; [a | b] an optional one
//   a b [a b ...]   one or more times, for one term also "a [...]"; "[a ...]" any number of times
//
// Thread: any; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/table.h"

namespace cairn {

enum class ArgumentType : unsigned char {
  kString,
  kInteger,
  kDouble,
  kKey,
  kPattern,
  kUnixTime,
  kPureToken,
  kOneOf,
  kBlock,
};

struct Argument {
  std::string name;
  ArgumentType type = ArgumentType::kString;
  std::string token;  // empty: none
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;      // the token is repeated too
  int key_spec = -1;                // for a key: the index of its key spec
  std::vector<Argument> arguments;  // of a block or a choice
};

// The name of a type in COMMAND DOCS: "string", "pure-token", ...
std::string_view ArgumentTypeName(ArgumentType type);

// Returns the arguments of a row; kCorruption, with the reason, if the usage line is malformed.
Result<std::vector<Argument>> ParseSyntax(const CommandRow& row);

}  // namespace cairn
