// SPDX-License-Identifier: BSD-3-Clause
#include "resp/reply.h"

#include <cmath>

#include "base/number.h"

namespace cairn {
namespace {

// Appends a head such as "*3\r\n", in one append.
void AppendHead(std::string& out, char type, int64_t number) {
  char bytes[24];
  char* const end = bytes + sizeof bytes;
  char* p = end;
  *--p = '\n';
  *--p = '\r';
  uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  do {
    *--p = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) *--p = '-';
  *--p = type;
  out.append(p, end - p);
}

}  // namespace

// The size granted grows by an eighth, so a large reply asks only a few dozen times.
bool Reply::Ask(size_t size) {
  constexpr size_t kHeadBytes = 64;
  constexpr size_t kLargeBytes = 1 << 20;
  const size_t wanted = out_.size() + size + kHeadBytes;
  if (is_cut_ || !room_->MayHold(wanted)) {
    Cut();
    return false;
  }
  granted_ = wanted + std::max(kFreeBytes, wanted / 8);
  if (size >= kLargeBytes) out_.reserve(wanted);  // else its line end might copy a large value once more
  return true;
}

void Reply::Simple(std::string_view text) {
  if (!Fits(text.size())) return;
  out_.push_back('+');
  out_.append(text);
  out_.append("\r\n");
}

void Reply::Error(std::string_view text) {
  out_.push_back('-');
  for (const char c : text) out_.push_back(c == '\r' || c == '\n' ? ' ' : c);
  out_.append("\r\n");
}

void Reply::Integer(int64_t value) {
  if (Fits(0)) AppendHead(out_, ':', value);
}

void Reply::Bulk(std::string_view bytes) {
  if (!Fits(bytes.size())) return;
  AppendHead(out_, '$', static_cast<int64_t>(bytes.size()));
  out_.append(bytes);
  out_.append("\r\n");
}

void Reply::BulkInteger(int64_t value) {
  std::string digits;
  AppendInt64(digits, value);
  Bulk(digits);
}

void Reply::Null() { Raw(protocol_ == 2 ? "$-1\r\n" : "_\r\n"); }

void Reply::NullArray() { Raw(protocol_ == 2 ? "*-1\r\n" : "_\r\n"); }

void Reply::Double(double value) {
  const std::string text = FormatDouble(value);
  if (protocol_ == 2) {
    Bulk(text);
    return;
  }
  if (!Fits(text.size())) return;
  out_.push_back(',');
  out_.append(text);
  out_.append("\r\n");
}

void Reply::Bool(bool value) {
  if (protocol_ == 2) {
    Integer(value ? 1 : 0);
  } else {
    Raw(value ? "#t\r\n" : "#f\r\n");
  }
}

void Reply::BigNumber(std::string_view digits) {
  if (protocol_ == 2) {
    Bulk(digits);
    return;
  }
  if (!Fits(digits.size())) return;
  out_.push_back('(');
  out_.append(digits);
  out_.append("\r\n");
}

void Reply::Verbatim(std::string_view format, std::string_view text) {
  if (protocol_ == 2) {
    Bulk(text);
    return;
  }
  if (!Fits(text.size())) return;
  AppendHead(out_, '=', static_cast<int64_t>(text.size() + 4));
  out_.append(format.substr(0, 3));
  out_.push_back(':');
  out_.append(text);
  out_.append("\r\n");
}

void Reply::Map(size_t pairs) {
  if (protocol_ == 2) {
    Aggregate('*', pairs * 2);
  } else {
    Aggregate('%', pairs);
  }
}

void Reply::Set(size_t count) { Aggregate(protocol_ == 2 ? '*' : '~', count); }

void Reply::Push(size_t count) { Aggregate(protocol_ == 2 ? '*' : '>', count); }

void Reply::FinishMap(size_t mark, size_t pairs) {
  if (protocol_ == 2) {
    Insert(mark, '*', pairs * 2);
  } else {
    Insert(mark, '%', pairs);
  }
}

void Reply::FinishSet(size_t mark, size_t count) { Insert(mark, protocol_ == 2 ? '*' : '~', count); }

void Reply::Aggregate(char type, size_t count) {
  if (Fits(0)) AppendHead(out_, type, static_cast<int64_t>(count));
}

void Reply::Insert(size_t mark, char type, size_t count) {
  std::string head;
  AppendHead(head, type, static_cast<int64_t>(count));
  out_.insert(mark, head);
}

}  // namespace cairn
