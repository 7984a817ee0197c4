# The library for programs without a server: one archive, its header, and a pkg-config file that names what it needs.
#   cmake --install build/release --prefix /usr/local
#   c++ -std=c++20 program.cc $(pkg-config --cflags --libs cairn)
include(GNUInstallDirs)

set(parts base encoding cache rdb storage types embedded isal)
if(TARGET cairn_rocksdb_crc32c)
  list(APPEND parts rocksdb_crc32c)
  set(CAIRN_LINK_OPTIONS "-Wl,--wrap=_ZN7rocksdb6crc32c6ExtendEjPKcm")
endif()
set(script "create libcairn.a\n")
set(targets)
foreach(part IN LISTS parts)
  string(APPEND script "addlib $<TARGET_FILE:cairn_${part}>\n")
  list(APPEND targets cairn_${part})
endforeach()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/libcairn.mri CONTENT "${script}save\nend\n")
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/libcairn.a
  COMMAND ${CMAKE_AR} -M < ${CMAKE_CURRENT_BINARY_DIR}/libcairn.mri
  DEPENDS ${targets} ${CMAKE_CURRENT_BINARY_DIR}/libcairn.mri
  VERBATIM)
add_custom_target(cairn-embedded ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/libcairn.a)

get_target_property(CAIRN_ROCKSDB RocksDB::rocksdb IMPORTED_LOCATION)
foreach(needed snappy z bz2 lz4 zstd)
  if(RocksDB_${needed})
    string(APPEND CAIRN_ROCKSDB_NEEDS " ${RocksDB_${needed}}")
  endif()
endforeach()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/embedded/cairn.pc.in ${CMAKE_CURRENT_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libcairn.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT embedded)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/embedded/database.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn COMPONENT embedded)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT embedded)
