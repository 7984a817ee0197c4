// SPDX-License-Identifier: BSD-3-Clause
//
// How many files the process may have open: a client is one, and so is each table of the store.
#pragma once

namespace cairn {

// Raises the limit as far as whoever started the process allows (RLIMIT_NOFILE's hard limit); it stays where it is when
// that fails. Called by main, before there are threads.
void RaiseFileLimit();

}  // namespace cairn
