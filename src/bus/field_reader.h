// SPDX-License-Identifier: BSD-3-Clause
//
// FieldReader: reads the fields of a message from the front. The bytes come from the network, so only this class
// compares a length with the bytes available. The first field that is too short or not valid latches an error with its
// name; a read after that returns zeros or nothing. So a decoder may read several fields and check ok() before it uses
// them. Integers are big-endian.
//
// Thread: that of its user. The bytes must outlive the reader and the views it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "bus/node_id.h"

namespace cairn {

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return error_.ok(); }
  size_t left() const { return rest_.size(); }

  // The fields read next belong to item `index` of the array `array` in errors, until Leave().
  void Enter(std::string_view array, size_t index);
  void Leave() { array_ = {}; }

  std::string_view Bytes(std::string_view field, uint64_t size);
  // An unsigned integer of `size` bytes. REQUIRES: size <= 8
  uint64_t Integer(std::string_view field, size_t size);
  uint8_t U8(std::string_view field) { return static_cast<uint8_t>(Integer(field, 1)); }
  uint16_t U16(std::string_view field) { return static_cast<uint16_t>(Integer(field, 2)); }
  uint32_t U32(std::string_view field) { return static_cast<uint32_t>(Integer(field, 4)); }
  uint64_t U64(std::string_view field) { return Integer(field, 8); }
  NodeId Id(std::string_view field);
  // None for forty zero bytes.
  std::optional<NodeId> OptionalId(std::string_view field);
  // The text before the first zero byte of a field of `size` bytes; it must be empty or valid.
  std::string_view Text(std::string_view field, size_t size, bool (*is_valid)(std::string_view));

  // Latches an error about this field, unless there is one.
  void Fail(std::string_view field, std::string_view why);
  // The latched error; an error about the field that has the length if bytes are left.
  Status Done(std::string_view length_field);

 private:
  std::string_view rest_;
  std::string_view array_;
  size_t index_ = 0;
  Status error_;
};

}  // namespace cairn
