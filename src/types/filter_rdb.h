// SPDX-License-Identifier: BSD-3-Clause
//
// Filters in RDB files, DUMP payloads and digests: what the rows of types/bloom_type.cc and types/cuckoo_type.cc share.
// A filter is its header and the parts of its bytes that are not zeros (rdb/rdb_format.h), so an empty one is small
// whatever its capacity, and a large one is read and loaded in pieces.
//
// Thread: any; functions on the caller's objects.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/digest.h"
#include "types/filter_bytes.h"
#include "types/rdb_value.h"

namespace cairn {

// The bytes that a part takes at least: a length and an empty text.
inline constexpr uint64_t kLeastFilterPartBytes = 2;

// Writes the RDB type and the value. Reads the bytes twice, because the number of parts comes first.
Status SaveFilter(FilterBytes& bytes, RdbType type, std::string_view header, RdbWriter& writer);

// Reads the text of the header into `value.head`; its owner decodes it and sets the length.
Status ReadFilterHeader(RdbReader& reader, RdbValue& value);
// Reads a part of the bytes, which are `value.length`.
Status ReadFilterPart(RdbReader& reader, RdbValue& value);
// Writes the parts that were read.
Status WriteFilterParts(const RdbValue& value, FilterBytes& bytes);

Status AddFilterToDigest(FilterBytes& bytes, std::string_view header, Digest& digest);

}  // namespace cairn
