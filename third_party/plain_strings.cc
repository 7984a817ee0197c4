// SPDX-License-Identifier: BSD-3-Clause
//
// std::string for RocksDB in a build with ThreadSanitizer, not instrumented: what its archive would call of the copy
// that our code has of it (plain_rocksdb.cmake).
#include <string>

template class std::basic_string<char>;
