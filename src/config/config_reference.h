// SPDX-License-Identifier: BSD-3-Clause
//
// The reference page of directives, docs/configuration.md, as the table of directives tells it.
#pragma once

#include <string>

namespace cairn {

// The whole page. A test compares it with the file in docs/.
std::string ReferencePage();

}  // namespace cairn
