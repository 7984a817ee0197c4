// SPDX-License-Identifier: BSD-3-Clause
#include "resp/request_parser.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/number.h"

namespace cairn {
namespace {

constexpr size_t kInlineLimit = 64 * 1024;
constexpr int64_t kMostArguments = INT32_MAX;
constexpr int64_t kMostArgumentsUnauthenticated = 10;
constexpr int64_t kMostBulkUnauthenticated = 16384;
constexpr size_t kKeptBytes = 64 * 1024;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char Unescape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return c;
  }
}

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// Reads a quoted word; `i` stands on the opening quote and ends behind the closing one.
bool ReadQuoted(std::string_view line, size_t& i, std::string& word) {
  const char quote = line[i++];
  for (;; ++i) {
    if (i >= line.size()) return false;
    const char c = line[i];
    if (c == quote) break;
    if (c != '\\' || i + 1 >= line.size()) {
      word.push_back(c);
    } else if (quote == '\'') {
      if (line[i + 1] == '\'') ++i;
      word.push_back(line[i]);
    } else if (i + 3 < line.size() && line[i + 1] == 'x' && HexValue(line[i + 2]) >= 0 &&
               HexValue(line[i + 3]) >= 0) {
      word.push_back(static_cast<char>(HexValue(line[i + 2]) << 4 | HexValue(line[i + 3])));
      i += 3;
    } else {
      word.push_back(Unescape(line[++i]));
    }
  }
  ++i;
  return i >= line.size() || IsSpace(line[i]);
}

}  // namespace

bool SplitQuoted(std::string_view line, std::vector<std::string>& words) {
  size_t i = 0;
  for (;;) {
    while (i < line.size() && IsSpace(line[i])) ++i;
    if (i >= line.size() || line[i] == '\0') return true;
    std::string word;
    while (i < line.size() && !IsSpace(line[i]) && line[i] != '\0') {
      if (line[i] == '"' || line[i] == '\'') {
        if (!ReadQuoted(line, i, word)) return false;
        break;
      }
      word.push_back(line[i++]);
    }
    words.push_back(std::move(word));
  }
}

char* RequestParser::Reserve(size_t size) {
  if (consumed_ == filled_) {
    consumed_ = position_ = filled_ = 0;
  } else if (consumed_ > 0 && capacity_ - filled_ < size) {
    Compact();
  }
  if (capacity_ - filled_ < size) {
    const size_t need = filled_ + size;
    const size_t bigger = std::max(need, std::min(capacity_ * 2, need + (need >> 2)));
    auto buffer = std::make_unique_for_overwrite<char[]>(bigger);
    if (filled_ > 0) std::memcpy(buffer.get(), buffer_.get(), filled_);
    buffer_ = std::move(buffer);
    capacity_ = bigger;
  }
  return buffer_.get() + filled_;
}

// Moves the unfinished request to the buffer's start.
void RequestParser::Compact() {
  std::memmove(buffer_.get(), buffer_.get() + consumed_, filled_ - consumed_);
  for (Extent& extent : extents_) extent.offset -= consumed_;
  filled_ -= consumed_;
  position_ -= consumed_;
  consumed_ = 0;
}

void RequestParser::Shrink() {
  if (capacity_ <= kKeptBytes || pending_bytes() > 0) return;
  buffer_.reset();
  capacity_ = filled_ = consumed_ = position_ = 0;
  inline_args_ = {};
  argv_ = {};
}

size_t RequestParser::missing_bytes() const {
  if (bulk_bytes_ < 0) return 0;
  const size_t end = position_ + static_cast<size_t>(bulk_bytes_) + 2;
  return end > filled_ ? end - filled_ : 0;
}

RequestParser::Outcome RequestParser::Fail(std::string_view why) {
  error_ = "Protocol error: ";
  error_.append(why);
  return Outcome::kError;
}

RequestParser::Outcome RequestParser::Next(const RequestLimits& limits) {
  if (args_left_ < 0) {
    if (position_ >= filled_) return Outcome::kIncomplete;
    if (buffer_[position_] != '*') return NextInline(limits);
  }
  return NextArray(limits);
}

// A line without its end. Bulk and array heads end in CR LF; like Redis we only look for the CR.
bool RequestParser::ReadLine(std::string_view& line) {
  const char* const start = buffer_.get() + position_;
  const void* const cr = std::memchr(start, '\r', filled_ - position_);
  if (cr == nullptr) return false;
  const size_t size = static_cast<size_t>(static_cast<const char*>(cr) - start);
  if (position_ + size + 2 > filled_) return false;
  line = std::string_view(start, size);
  position_ += size + 2;
  return true;
}

RequestParser::Outcome RequestParser::NextArray(const RequestLimits& limits) {
  std::string_view line;
  if (args_left_ < 0) {
    if (!ReadLine(line)) {
      return filled_ - position_ > kInlineLimit ? Fail("too big mbulk count string") : Outcome::kIncomplete;
    }
    const auto count = ParseInt64(line.substr(1));
    if (!count || *count > kMostArguments) return Fail("invalid multibulk length");
    if (*count > kMostArgumentsUnauthenticated && !limits.authenticated) {
      return Fail("unauthenticated multibulk length");
    }
    extents_.clear();
    args_left_ = std::max<int64_t>(*count, 0);
    bulk_bytes_ = -1;
  }
  while (args_left_ > 0) {
    if (bulk_bytes_ < 0) {
      const Outcome head = ReadBulkHead(limits);
      if (head != Outcome::kRequest) return head;
    }
    const auto size = static_cast<size_t>(bulk_bytes_);
    if (filled_ - position_ < size + 2) return Outcome::kIncomplete;
    extents_.push_back({position_, size});
    position_ += size + 2;
    bulk_bytes_ = -1;
    --args_left_;
  }
  return Finish();
}

RequestParser::Outcome RequestParser::ReadBulkHead(const RequestLimits& limits) {
  std::string_view line;
  if (!ReadLine(line)) {
    return filled_ - position_ > kInlineLimit ? Fail("too big bulk count string") : Outcome::kIncomplete;
  }
  if (line.empty() || line[0] != '$') {
    std::string why = "expected '$', got '";
    why.push_back(line.empty() ? '\r' : line[0]);
    why.push_back('\'');
    return Fail(why);
  }
  const auto size = ParseInt64(line.substr(1));
  if (!size || *size < 0 || *size > limits.max_bulk_bytes) return Fail("invalid bulk length");
  if (*size > kMostBulkUnauthenticated && !limits.authenticated) return Fail("unauthenticated bulk length");
  bulk_bytes_ = *size;
  return Outcome::kRequest;
}

RequestParser::Outcome RequestParser::Finish() {
  argv_.clear();
  for (const Extent& extent : extents_) argv_.emplace_back(buffer_.get() + extent.offset, extent.size);
  args_left_ = -1;
  consumed_ = position_;
  return Outcome::kRequest;
}

RequestParser::Outcome RequestParser::NextInline(const RequestLimits&) {
  const char* const start = buffer_.get() + position_;
  const void* const newline = std::memchr(start, '\n', filled_ - position_);
  if (newline == nullptr) {
    return filled_ - position_ > kInlineLimit ? Fail("too big inline request") : Outcome::kIncomplete;
  }
  const size_t size = static_cast<size_t>(static_cast<const char*>(newline) - start);
  std::string_view line(start, size);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  inline_args_.clear();
  if (!SplitQuoted(line, inline_args_)) return Fail("unbalanced quotes in request");
  position_ += size + 1;
  consumed_ = position_;
  argv_.assign(inline_args_.begin(), inline_args_.end());
  return Outcome::kRequest;
}

}  // namespace cairn
