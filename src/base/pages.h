// SPDX-License-Identifier: BSD-3-Clause
//
// DiscardPages: gives memory back to the kernel before its owner can free it.
//
// Thread: any.
#pragma once

#include <string_view>

namespace cairn {

// The whole pages within `bytes` take no memory afterwards and read as zeros, until they are written again.
// REQUIRES: `bytes` is on the heap, and nobody needs their content.
void DiscardPages(std::string_view bytes);

}  // namespace cairn
