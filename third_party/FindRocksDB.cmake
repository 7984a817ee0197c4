# Finds RocksDB 7.8 or newer and defines RocksDB::rocksdb. Debian's package has no reliable CMake config, so this looks
# up the header and the library directly. It prefers the static library, because accesses to thread-local counters and
# calls within RocksDB are direct then (docs/decisions/write-path.md).
find_path(RocksDB_INCLUDE_DIR rocksdb/db.h)
find_library(RocksDB_LIBRARY NAMES librocksdb.a rocksdb)
set(RocksDB_NEEDS)
if(RocksDB_LIBRARY MATCHES "\\.a$")
  foreach(needed snappy z bz2 lz4 zstd gflags)
    find_library(RocksDB_${needed} ${needed} REQUIRED)
    list(APPEND RocksDB_NEEDS ${RocksDB_${needed}})
  endforeach()
endif()

if(RocksDB_INCLUDE_DIR)
  file(STRINGS ${RocksDB_INCLUDE_DIR}/rocksdb/version.h version_lines REGEX "#define ROCKSDB_(MAJOR|MINOR|PATCH) ")
  foreach(part MAJOR MINOR PATCH)
    string(REGEX MATCH "ROCKSDB_${part} ([0-9]+)" _ "${version_lines}")
    set(version_${part} ${CMAKE_MATCH_1})
  endforeach()
  set(RocksDB_VERSION ${version_MAJOR}.${version_MINOR}.${version_PATCH})
  if(RocksDB_VERSION VERSION_LESS 7.8)
    message(FATAL_ERROR "RocksDB ${RocksDB_VERSION} found; Cairn needs 7.8 or newer (Debian 12: librocksdb-dev)")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RocksDB REQUIRED_VARS RocksDB_LIBRARY RocksDB_INCLUDE_DIR VERSION_VAR RocksDB_VERSION)

if(RocksDB_FOUND AND NOT TARGET RocksDB::rocksdb)
  set(RocksDB_LINKED ${RocksDB_LIBRARY})
  if(CAIRN_SANITIZE STREQUAL "thread" AND RocksDB_LIBRARY MATCHES "\\.a$")
    include(plain_rocksdb)
    add_plain_rocksdb(${RocksDB_LIBRARY} RocksDB_LINKED)
    list(PREPEND RocksDB_NEEDS cairn_plain_memory)
  endif()
  if(RocksDB_LIBRARY MATCHES "\\.a$")
    # The linker cannot redirect calls within a shared library.
    add_library(cairn_rocksdb_crc32c STATIC ${CMAKE_CURRENT_LIST_DIR}/rocksdb_crc32c.cc)
    target_link_libraries(cairn_rocksdb_crc32c PUBLIC cairn_isal)
    target_link_options(cairn_rocksdb_crc32c INTERFACE -Wl,--wrap=_ZN7rocksdb6crc32c6ExtendEjPKcm)
    list(PREPEND RocksDB_NEEDS cairn_rocksdb_crc32c)
  endif()
  add_library(RocksDB::rocksdb UNKNOWN IMPORTED)
  set_target_properties(RocksDB::rocksdb PROPERTIES
    IMPORTED_LOCATION ${RocksDB_LINKED} INTERFACE_INCLUDE_DIRECTORIES ${RocksDB_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${RocksDB_NEEDS};Threads::Threads;${CMAKE_DL_LIBS}")
endif()
