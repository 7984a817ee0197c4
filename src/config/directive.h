// SPDX-License-Identifier: BSD-3-Clause
//
// Directive: one row of the table of directives. The configuration file, the command line, CONFIG GET, SET and REWRITE,
// the reference page and the check of conf/cairn.conf all read this row and nothing else.
//
// To add a directive, add one row to the file of its section (config/directives_*.cc) and, if threads read it while
// they serve, a field in Settings or Limits that the row names as its target.
//
// Thread: any; rows never change.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "types/limits.h"

namespace cairn {

enum class Kind : unsigned char {
  kBool,     // yes | no
  kNumber,   // an integer within bounds
  kOctal,    // the same, written in octal (file permissions)
  kMemory,   // bytes, with an optional unit
  kChoice,   // one of `choices`
  kText,     // any one word
  kWords,    // any number of words
  kSpecial,  // words with a syntax of their own, in `special`
};

// A directive's value: bool, number (also memory, and the index of a choice), text, words.
using Value = std::variant<bool, int64_t, std::string, std::vector<std::string>>;

// The syntax of a directive of kind kSpecial.
struct SpecialSyntax {
  // Parses the words of a line or of CONFIG SET into the form in which they are kept. `current` has the words of
  // earlier lines of a repeatable directive. An error's text is a part of a sentence.
  Result<std::vector<std::string>> (*parse)(std::span<const std::string> words, std::span<const std::string> current);
  // Returns the lines for the configuration file, each without the directive's name.
  std::vector<std::string> (*lines)(std::span<const std::string> kept);
  // Returns CONFIG GET's text; null: the words, separated by spaces.
  std::string (*text)(std::span<const std::string> kept) = nullptr;
};

// Where a value is published for threads to read: a field, or a function if one field is not enough.
using Target = std::variant<std::monostate, std::atomic<bool> Settings::*, std::atomic<int64_t> Settings::*,
                            std::atomic<int64_t> Limits::*, void (*)(const Value& value, Settings& settings)>;

enum class Section : unsigned char {
  kNetwork,
  kTls,
  kProcess,
  kSecurity,
  kReplication,
  kCluster,
  kDurability,
  kMemory,
  kTypes,
  kExpiry,
  kObservation,
  kRocksdb,
  kAccepted,
};
inline constexpr int kSectionCount = 13;
std::string_view SectionTitle(Section section);
// The description of a section for the reference page, a sentence or two.
std::string_view SectionText(Section section);

enum DirectiveFlag : uint8_t {
  kStartOnly = 1 << 0,   // CONFIG SET refuses it
  kRepeatable = 1 << 1,  // may have several lines, which add up
  kSecret = 1 << 2,      // never printed in logs
  kFileOnly = 1 << 3,    // unknown to CONFIG GET and SET
  kHidden = 1 << 4,      // CONFIG GET shows it only for its exact name
  kGuarded = 1 << 5,     // CONFIG SET accepts it only if `enable-protected-configs` allows
  kCapped = 1 << 6,      // kNumber: a value out of bounds is set to the nearest bound
  kMerged = 1 << 7,      // CONFIG SET, and the first line of a file, keep what the new value does not name
};

struct Directive {
  std::string_view name;
  std::string_view alias = {};  // another name: Redis's former one, or Valkey's
  Section section = Section::kProcess;
  Kind kind = Kind::kText;
  std::string_view fallback = {};  // the default, as written in the file
  int64_t min = 0;                 // kNumber, kOctal, kMemory
  int64_t max = INT64_MAX;
  std::span<const std::string_view> choices = {};
  const SpecialSyntax* special = nullptr;
  uint8_t flags = 0;
  Target target = {};
  std::string_view syntax = {};  // the arguments, if the kind does not describe them
  std::string_view help = {};

  bool Has(DirectiveFlag flag) const { return flags & flag; }
};

// All rows, in the sections' order on the reference page.
std::span<const Directive> ClusterDirectives();
std::span<const Directive> NetworkDirectives();
std::span<const Directive> TlsDirectives();
std::span<const Directive> ProcessDirectives();  // kProcess and kSecurity
std::span<const Directive> ReplicationDirectives();
std::span<const Directive> StorageDirectives();  // kDurability, kMemory and kRocksdb
std::span<const Directive> TypeDirectives();     // kTypes and kExpiry
std::span<const Directive> ObservationDirectives();
std::span<const Directive> AcceptedDirectives();
std::span<const Directive> AllDirectives();

// Finds a directive by name or alias, ignoring case; null: none.
const Directive* FindDirective(std::string_view name);

// Parses the words after the name on a line (or CONFIG SET's one argument, for kinds of one word). The error's text is
// that of Redis's CONFIG SET.
Result<Value> ParseValue(const Directive& directive, std::span<const std::string> words, const Value& current);

// Formats the value for CONFIG GET.
std::string FormatValue(const Directive& directive, const Value& value);

// Formats the value as lines of the configuration file, each with the name.
std::vector<std::string> FormatLines(const Directive& directive, const Value& value);

// Describes the arguments for the reference page: "yes | no", "0 to 16", ...
std::string DescribeSyntax(const Directive& directive);

}  // namespace cairn
