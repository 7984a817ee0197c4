// SPDX-License-Identifier: BSD-3-Clause
#include "acl/user_rules.h"

#include <algorithm>

#include "acl/rule_errors.h"
#include "base/sha.h"
#include "base/words.h"

namespace cairn {
namespace {

constexpr size_t kHashDigits = 64;
constexpr std::string_view kSanitizing = "sanitize-payload";
constexpr std::string_view kSkipSanitizing = "skip-sanitize-payload";

bool IsHash(std::string_view text) {
  return text.size() == kHashDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Compares in constant time: the time does not show where the two differ.
bool IsSameHash(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

// Whether the rules of a selector can be written between parentheses: a quote would be removed when they are read, and
// a word that ends with a parenthesis would end the selector.
bool IsWritable(std::string_view rules) {
  return rules.find_first_of("\"'") == rules.npos && rules.find(") ") == rules.npos;
}

}  // namespace

UserRules UserRules::Everything(const RuleContext& context) {
  UserRules rules(context);
  for (const std::string_view rule : {"on", "nopass", "allkeys", "allchannels", "allcommands"}) {
    const Status applied = rules.Apply(context, rule);
    ASSERT(applied.ok(), "words without a value are no error");
  }
  return rules;
}

void UserRules::Reset(const RuleContext& context) {
  enabled_ = nopass_ = false;
  passwords_.clear();
  selectors_.assign(1, Selector(context.catalogue.size(), context.all_channels));
}

// Applies a rule about the user that is one word. False if `text` is not such a rule.
bool UserRules::ApplyWord(const RuleContext& context, std::string_view text) {
  const std::string word = LowerCase(text);
  if (word == "on" || word == "off") {
    enabled_ = word == "on";
  } else if (word == kSkipSanitizing || word == kSanitizing) {
    sanitizing_ = word == kSanitizing ? kSanitizing : kSkipSanitizing;
  } else if (word == "nopass" || word == "resetpass") {
    nopass_ = word == "nopass";
    passwords_.clear();
  } else if (word == "clearselectors") {
    selectors_.erase(selectors_.begin() + 1, selectors_.end());
  } else if (word == "reset") {
    Reset(context);
    sanitizing_ = kSanitizing;
  } else {
    return false;
  }
  return true;
}

// >password, <password, #hash, !hash
Status UserRules::ApplyPassword(std::string_view rule) {
  const char kind = rule.front();
  const std::string_view given = rule.substr(1);
  const bool is_hash = kind == '#' || kind == '!';
  if (is_hash && !IsHash(given)) return Status::Reply(rule_errors::kBadHash);
  const std::string hash = is_hash ? std::string(given) : Sha256Hex(given);
  const auto found = std::find(passwords_.begin(), passwords_.end(), hash);
  if (kind == '<' || kind == '!') {
    if (found == passwords_.end()) return Status::Reply(rule_errors::kNoSuchPassword);
    passwords_.erase(found);
    return Ok();
  }
  if (found == passwords_.end()) passwords_.push_back(hash);
  nopass_ = false;
  return Ok();
}

Status UserRules::AddSelector(const RuleContext& context, std::string_view rule) {
  const auto words = SplitWords(rule.substr(1, rule.size() - 2));
  if (!words) return Status::Reply(rule_errors::kSyntax);
  Selector selector(context.catalogue.size(), context.all_channels);
  for (const std::string& word : *words) TRY(selector.Apply(context.catalogue, word));
  if (!IsWritable(selector.Describe())) return Status::Reply(rule_errors::kSyntax);
  selectors_.push_back(std::move(selector));
  return Ok();
}

Status UserRules::Apply(const RuleContext& context, std::string_view rule) {
  if (rule.empty() || ApplyWord(context, rule)) return Ok();
  if (std::string_view("><#!").find(rule.front()) != std::string_view::npos) {
    return ApplyPassword(rule);
  }
  if (rule.front() == '(' && rule.back() == ')') return AddSelector(context, rule);
  return selectors_.front().Apply(context.catalogue, rule);
}

bool UserRules::is_unrestricted() const {
  return std::any_of(selectors_.begin(), selectors_.end(),
                     [](const Selector& selector) { return selector.is_unrestricted(); });
}

bool UserRules::Accepts(std::string_view password) const {
  if (!enabled_) return false;
  if (nopass_) return true;
  const std::string hash = Sha256Hex(password);
  return std::any_of(passwords_.begin(), passwords_.end(),
                     [&](const std::string& known) { return IsSameHash(known, hash); });
}

std::vector<std::string_view> UserRules::Flags() const {
  std::vector<std::string_view> flags = {enabled_ ? "on" : "off"};
  if (nopass_) flags.push_back("nopass");
  if (!sanitizing_.empty()) flags.push_back(sanitizing_);
  return flags;
}

std::string UserRules::Describe() const {
  std::string text;
  for (const std::string_view flag : Flags()) text.append(flag).append(" ");
  for (const std::string& password : passwords_) text.append("#").append(password).append(" ");
  text.append(selectors_.front().Describe());
  for (size_t i = 1; i < selectors_.size(); ++i) {
    text.append(" (").append(selectors_[i].Describe()).append(")");
  }
  return text;
}

Result<std::vector<std::string>> MergeSelectors(std::span<const std::string_view> words) {
  std::vector<std::string> merged;
  std::string_view opened;  // the word that opened an unclosed selector
  for (const std::string_view word : words) {
    if (!opened.empty()) {
      merged.back().append(" ").append(word);
      if (word.ends_with(')')) opened = {};
      continue;
    }
    merged.emplace_back(word);
    if (word.starts_with('(') && !word.ends_with(')')) opened = word;
  }
  if (opened.empty()) return merged;
  return Status::Reply("Unmatched parenthesis in acl selector starting at '" + std::string(opened) + "'.");
}

}  // namespace cairn
