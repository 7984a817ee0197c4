// SPDX-License-Identifier: BSD-3-Clause
//
// The reference page of directives, docs/configuration.md, generated from the table of directives.
#pragma once

#include <string>

namespace cairn {

// Returns the whole page. A test compares it with the file in docs/.
std::string ReferencePage();

}  // namespace cairn
