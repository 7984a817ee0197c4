// SPDX-License-Identifier: BSD-3-Clause
#include "bus/field_reader.h"

#include <fmt/format.h>

#include <string>

namespace cairn {

void FieldReader::Enter(std::string_view array, size_t index) {
  array_ = array;
  index_ = index;
}

std::string_view FieldReader::Bytes(std::string_view field, uint64_t size) {
  if (size > rest_.size()) {
    Fail(field, fmt::format("{} of {} bytes", rest_.size(), size));
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

uint64_t FieldReader::Integer(std::string_view field, size_t size) {
  uint64_t value = 0;
  for (const char byte : Bytes(field, size)) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

NodeId FieldReader::Id(std::string_view field) {
  const std::optional<NodeId> id = NodeId::Parse(Bytes(field, NodeId::kSize));
  if (!id) Fail(field, "no node id");
  return id.value_or(NodeId());
}

std::optional<NodeId> FieldReader::OptionalId(std::string_view field) {
  const std::string_view bytes = Bytes(field, NodeId::kSize);
  if (bytes.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
  const std::optional<NodeId> id = NodeId::Parse(bytes);
  if (!id) Fail(field, "no node id");
  return id;
}

std::string_view FieldReader::Text(std::string_view field, size_t size, bool (*is_valid)(std::string_view)) {
  const std::string_view bytes = Bytes(field, size);
  const size_t end = bytes.find('\0');
  if (end == std::string_view::npos) {
    Fail(field, "no end");
    return {};
  }
  const std::string_view text = bytes.substr(0, end);
  if (text.empty() || is_valid(text)) return text;
  Fail(field, "no valid text");
  return {};
}

void FieldReader::Fail(std::string_view field, std::string_view why) {
  rest_ = {};
  if (!error_.ok()) return;
  const std::string place = array_.empty() ? std::string() : fmt::format("{}[{}].", array_, index_);
  error_ = Status::Corruption(fmt::format("{}{}: {}", place, field, why));
}

Status FieldReader::Done(std::string_view length_field) {
  if (!rest_.empty()) Fail(length_field, fmt::format("{} bytes too many", rest_.size()));
  return std::move(error_);
}

}  // namespace cairn
