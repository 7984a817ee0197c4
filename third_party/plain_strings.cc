// SPDX-License-Identifier: BSD-3-Clause
//
// An uninstrumented std::string for RocksDB in a build with ThreadSanitizer. Without it RocksDB's library would call
// our instrumented copy of its functions (plain_rocksdb.cmake).
#include <string>

template class std::basic_string<char>;
