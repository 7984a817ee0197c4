// SPDX-License-Identifier: BSD-3-Clause
//
// Errors in rules, in Redis's words. The texts follow "Error in ACL SETUSER modifier '...': "; code compares them to
// recognize an unknown command.
#pragma once

#include <string_view>

namespace cairn::rule_errors {

inline constexpr std::string_view kUnknown = "Unknown command or category name in ACL";
inline constexpr std::string_view kSyntax = "Syntax error";
inline constexpr std::string_view kKeysAfterAll =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have "
    "any effect. Try 'resetkeys' to start with an empty list of patterns";
inline constexpr std::string_view kChannelsAfterAll =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not "
    "have any effect. Try 'resetchannels' to start with an empty list of channels";
inline constexpr std::string_view kBadDatabase = "The provided database ID is out of range";
inline constexpr std::string_view kNoSuchPassword =
    "The password you are trying to remove from the user does not exist";
inline constexpr std::string_view kBadHash =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
    "characters";
inline constexpr std::string_view kArgumentOfSubcommand = "Allowing first-arg of a subcommand is not supported";
inline constexpr std::string_view kDuplicate = "Duplicate user found. A user can only be defined once in config files";

}  // namespace cairn::rule_errors
