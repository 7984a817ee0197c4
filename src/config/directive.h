// SPDX-License-Identifier: BSD-3-Clause
//
// Directive: one row of the table of directives. The configuration file, the command line, CONFIG
// GET, SET and REWRITE, the reference page and the check of conf/cairn.conf all read this row and
// nothing else.
//
// A directive is added by one row in the file of its section (server/directives_*.cc) and, when
// threads look at it while they serve, a field in Settings or Limits that the row names as its
// target.
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
  kSpecial,  // words with a syntax of their own: `special` says
};

// What a directive is set to: bool, number (also memory and the position of a choice), text, words.
using Value = std::variant<bool, int64_t, std::string, std::vector<std::string>>;

// The syntax of a directive of kind kSpecial.
struct SpecialSyntax {
  // The words in the form they are kept in, given those of a line or of CONFIG SET and, for a
  // repeatable directive, what the lines before it came to. An error's text is a part of a
  // sentence.
  Result<std::vector<std::string>> (*parse)(std::span<const std::string> words, std::span<const std::string> current);
  // The lines of the configuration file, each without the directive's name.
  std::vector<std::string> (*lines)(std::span<const std::string> kept);
  // CONFIG GET's text; null: the words, with a blank between them.
  std::string (*text)(std::span<const std::string> kept) = nullptr;
};

// Where a value is published for threads to read: a field, or a function for what is not one field.
using Target = std::variant<std::monostate, std::atomic<bool> Settings::*, std::atomic<int64_t> Settings::*,
                            std::atomic<int64_t> Limits::*, void (*)(const Value& value, Settings& settings)>;

enum class Section : unsigned char {
  kNetwork,
  kTls,
  kProcess,
  kSecurity,
  kReplication,
  kDurability,
  kMemory,
  kTypes,
  kExpiry,
  kObservation,
  kRocksdb,
  kAccepted,
};
inline constexpr int kSectionCount = 12;
std::string_view SectionTitle(Section section);
// What the section is about, a sentence or two for the reference page.
std::string_view SectionText(Section section);

enum DirectiveFlag : uint8_t {
  kStartOnly = 1 << 0,   // CONFIG SET refuses it
  kRepeatable = 1 << 1,  // may stand several times; the lines add up
  kSecret = 1 << 2,      // never printed in logs
  kFileOnly = 1 << 3,    // CONFIG GET and SET do not know it
  kHidden = 1 << 4,      // CONFIG GET shows it to who asks for its very name
  kGuarded = 1 << 5,     // CONFIG SET takes it only as `enable-protected-configs` says
  kCapped = 1 << 6,      // kNumber: a value beyond the bounds is taken for the nearer one
};

struct Directive {
  std::string_view name;
  std::string_view alias = {};  // the name Redis used before
  Section section = Section::kProcess;
  Kind kind = Kind::kText;
  std::string_view fallback = {};  // the default, as the file would say it
  int64_t min = 0;                 // kNumber, kOctal, kMemory
  int64_t max = INT64_MAX;
  std::span<const std::string_view> choices = {};
  const SpecialSyntax* special = nullptr;
  uint8_t flags = 0;
  Target target = {};
  std::string_view syntax = {};  // the arguments, where the kind does not say them
  std::string_view help = {};

  bool Has(DirectiveFlag flag) const { return flags & flag; }
};

// All rows, by section, in the order of the reference page.
std::span<const Directive> NetworkDirectives();
std::span<const Directive> TlsDirectives();
std::span<const Directive> ProcessDirectives();  // kProcess and kSecurity
std::span<const Directive> ReplicationDirectives();
std::span<const Directive> StorageDirectives();  // kDurability, kMemory and kRocksdb
std::span<const Directive> TypeDirectives();     // kTypes and kExpiry
std::span<const Directive> ObservationDirectives();
std::span<const Directive> AcceptedDirectives();
std::span<const Directive> AllDirectives();

// By name or alias in any case; null when there is none.
const Directive* FindDirective(std::string_view name);

// Reads the words that follow the name on a line (or CONFIG SET's one argument, for kinds of one
// word). The error's text is in the words of Redis's CONFIG SET.
Result<Value> ParseValue(const Directive& directive, std::span<const std::string> words, const Value& current);

// The value as CONFIG GET shows it.
std::string FormatValue(const Directive& directive, const Value& value);

// The value as lines of the configuration file, each with the name.
std::vector<std::string> FormatLines(const Directive& directive, const Value& value);

// What stands for the arguments in the reference page: "yes | no", "0 to 16", ...
std::string DescribeSyntax(const Directive& directive);

}  // namespace cairn
