// SPDX-License-Identifier: BSD-3-Clause
#include "resp/request_parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/number.h"
#include "base/words.h"

namespace cairn {
namespace {

constexpr size_t kInlineLimit = 64 * 1024;
constexpr int64_t kMostArguments = INT32_MAX;
constexpr int64_t kMostArgumentsUnauthenticated = 10;
constexpr int64_t kMostBulkUnauthenticated = 16384;
constexpr int64_t kMostArgumentsAhead = 1024;  // a look ahead ends at a request with more

// Takes "<mark><number>\r\n" from the front of `bytes`; -1 if they do not begin with a whole one.
int64_t TakeHead(std::string_view& bytes, char mark) {
  const size_t end = bytes.find('\r');
  if (bytes.empty() || bytes[0] != mark || end == std::string_view::npos || end + 2 > bytes.size()) return -1;
  const auto number = ParseInt64(bytes.substr(1, end - 1));
  bytes.remove_prefix(end + 2);
  return number ? std::max<int64_t>(*number, -1) : -1;
}

// Takes a request, an array of bulk strings, from the front of `bytes`. False if they do not begin with a whole one.
bool TakeRequest(std::string_view& bytes, std::vector<std::string_view>& argv) {
  const int64_t count = TakeHead(bytes, '*');
  if (count < 0 || count > kMostArgumentsAhead) return false;
  argv.clear();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = TakeHead(bytes, '$');
    if (size < 0 || bytes.size() < 2 || static_cast<uint64_t>(size) > bytes.size() - 2) return false;
    argv.push_back(bytes.substr(0, static_cast<size_t>(size)));
    bytes.remove_prefix(static_cast<size_t>(size) + 2);
  }
  return true;
}

}  // namespace

char* RequestParser::Reserve(size_t size) {
  if (consumed_ == filled_ || capacity_ - filled_ < size) MoveToStart();
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

// Moves the pending bytes to the buffer's start.
void RequestParser::MoveToStart() {
  if (consumed_ == filled_) {
    consumed_ = position_ = filled_ = 0;
    return;
  }
  if (consumed_ == 0) return;
  std::memmove(buffer_.get(), buffer_.get() + consumed_, filled_ - consumed_);
  for (Extent& extent : extents_) extent.offset -= consumed_;
  filled_ -= consumed_;
  position_ -= consumed_;
  consumed_ = 0;
}

void RequestParser::Shrink(size_t kept_bytes) {
  if (capacity_ <= kept_bytes || pending_bytes() > 0) return;
  buffer_.reset();
  capacity_ = filled_ = consumed_ = position_ = 0;
  FreeLists();
}

void RequestParser::FreeLists() {
  std::vector<Extent>().swap(extents_);  // `= {}` would keep the memory
  std::vector<std::string>().swap(inline_args_);
  std::vector<std::string_view>().swap(argv_);
}

void RequestParser::UseBuffer(std::unique_ptr<char[]> buffer, size_t size) {
  ASSERT(pending_bytes() <= size, "what is pending fits");
  MoveToStart();
  if (filled_ > 0) std::memcpy(buffer.get(), buffer_.get(), filled_);
  buffer_ = std::move(buffer);
  capacity_ = size;
}

std::unique_ptr<char[]> RequestParser::ReturnBuffer() {
  MoveToStart();
  std::unique_ptr<char[]> lent = std::move(buffer_);
  if (filled_ > 0) {
    buffer_ = std::make_unique_for_overwrite<char[]>(filled_);
    std::memcpy(buffer_.get(), lent.get(), filled_);
  } else if (list_bytes() > 0) {
    FreeLists();
  }
  capacity_ = filled_;
  return lent;
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

void RequestParser::LookAhead(size_t most, const std::function<void(std::span<const std::string_view>)>& visit) const {
  std::string_view bytes(buffer_.get() + consumed_, filled_ - consumed_);
  std::vector<std::string_view> argv;
  for (size_t i = 0; i < most && TakeRequest(bytes, argv); ++i) visit(argv);
}

RequestParser::Outcome RequestParser::Next(const RequestLimits& limits) {
  if (args_left_ < 0) {
    if (position_ >= filled_) return Outcome::kIncomplete;
    if (buffer_[position_] != '*') return NextInline(limits);
  }
  return NextArray(limits);
}

// Reads a line without its end. Bulk and array heads end in CR LF; as in Redis, only the CR is searched. Returns false
// if the end has not arrived; `line` is then what has.
bool RequestParser::ReadLine(std::string_view& line) {
  const char* const start = buffer_.get() + position_;
  const void* const cr = std::memchr(start, '\r', filled_ - position_);
  const size_t size = cr == nullptr ? filled_ - position_ : static_cast<size_t>(static_cast<const char*>(cr) - start);
  line = std::string_view(start, size);
  if (position_ + size + 2 > filled_) return false;
  position_ += size + 2;
  return true;
}

RequestParser::Outcome RequestParser::NextArray(const RequestLimits& limits) {
  std::string_view line;
  if (args_left_ < 0) {
    const bool is_whole = ReadLine(line);
    if (line.size() > kInlineLimit) return Fail("too big mbulk count string");
    if (!is_whole) return Outcome::kIncomplete;
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
  const bool is_whole = ReadLine(line);
  if (line.size() > kInlineLimit) return Fail("too big bulk count string");
  if (!is_whole) return Outcome::kIncomplete;
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
  request_begin_ = std::exchange(consumed_, position_);
  return Outcome::kRequest;
}

RequestParser::Outcome RequestParser::NextInline(const RequestLimits&) {
  const char* const start = buffer_.get() + position_;
  const void* const newline = std::memchr(start, '\n', filled_ - position_);
  const size_t size =
      newline == nullptr ? filled_ - position_ : static_cast<size_t>(static_cast<const char*>(newline) - start);
  if (size > kInlineLimit) return Fail("too big inline request");
  if (newline == nullptr) return Outcome::kIncomplete;
  std::string_view line(start, size);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  auto words = SplitWords(line);
  if (!words) return Fail("unbalanced quotes in request");
  inline_args_ = std::move(*words);
  position_ += size + 1;
  request_begin_ = std::exchange(consumed_, position_);
  argv_.assign(inline_args_.begin(), inline_args_.end());
  return Outcome::kRequest;
}

}  // namespace cairn
