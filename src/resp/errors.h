// SPDX-License-Identifier: BSD-3-Clause
//
// The client's error texts: Redis's exact words. Texts used by one command only are in its file.
#pragma once

#include <string>
#include <string_view>

namespace cairn::errors {

inline constexpr std::string_view kWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kSyntax = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotAFloat = "ERR value is not a valid float";
inline constexpr std::string_view kNotPositive = "ERR value is out of range, must be positive";
inline constexpr std::string_view kNoSuchKey = "ERR no such key";
inline constexpr std::string_view kIndexRange = "ERR index out of range";
inline constexpr std::string_view kSameObject = "ERR source and destination objects are the same";
inline constexpr std::string_view kOverflow = "ERR increment or decrement would overflow";
inline constexpr std::string_view kNanOrInfinity = "ERR increment would produce NaN or Infinity";
inline constexpr std::string_view kScoreNan = "ERR resulting score is not a number (NaN)";
inline constexpr std::string_view kMinMaxFloat = "ERR min or max is not a float";
inline constexpr std::string_view kMinMaxLex = "ERR min or max not valid string range item";
inline constexpr std::string_view kDbIndexRange = "ERR DB index is out of range";
inline constexpr std::string_view kInvalidCursor = "ERR invalid cursor";
inline constexpr std::string_view kStringTooLong = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

// The part of the client's own bytes that an error text shows: up to the first zero byte, where Redis's formats end.
std::string_view Shown(std::string_view bytes);

// "ERR wrong number of arguments for 'get' command"; `command` in COMMAND's form ("config|get").
std::string WrongArity(std::string_view command);

// "ERR invalid expire time in 'set' command"
std::string InvalidExpire(std::string_view command);

// "ERR unknown command 'x', with args beginning with: 'a' 'b' "; `args` without the command's name.
std::string UnknownCommand(std::string_view name, const std::string_view* args, size_t count);

// "ERR unknown subcommand 'x'. Try CONFIG HELP."; `container` in upper case.
std::string UnknownSubcommand(std::string_view name, std::string_view container);

// "ERR unknown subcommand or wrong number of arguments for 'x'. Try CONFIG HELP."; Redis's text for too many arguments
// to a subcommand with a varying number of them.
std::string BadSubcommand(std::string_view name, std::string_view container);

}  // namespace cairn::errors
