# Makes a copy of RocksDB's static library whose memory accesses ThreadSanitizer does not see.
#
# The library is not instrumented, so the sanitizer sees its locks, which are functions, but not its atomics. So it must
# not see RocksDB's memory accesses either: every object that RocksDB passes between threads by an atomic would be
# reported as a race. It sees accesses in two places. RocksDB calls functions that the sanitizer intercepts;
# plain_memory.cc replaces these. And RocksDB calls inline functions of which the linker keeps our instrumented copy; so
# RocksDB's copies get different names. The library has no copies of std::string's functions; plain_strings.cc adds
# them. Accesses of our code to RocksDB's memory are seen as before.
function(write_plain_archive archive copy)
  set(strings ${CMAKE_BINARY_DIR}/plain_strings.o)
  set(names ${CMAKE_BINARY_DIR}/plain_names.txt)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -fPIE -c -o ${strings}
                          ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plain_strings.cc COMMAND_ERROR_IS_FATAL ANY)
  file(COPY_FILE ${archive} ${copy})
  execute_process(COMMAND ${CMAKE_AR} q ${copy} ${strings} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_NM} --defined-only ${copy} OUTPUT_VARIABLE symbols ERROR_QUIET
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " W [^\n]+" renamed "${symbols}")
  list(TRANSFORM renamed REPLACE "^ W " "")
  # Both forms of a constructor or destructor can be in one section group, which has a separate name.
  set(groups ${renamed})
  list(FILTER groups INCLUDE REGEX "[CD]2[EI]")
  list(TRANSFORM groups REPLACE "([CD])2([EI])" "\\15\\2")
  list(APPEND renamed ${groups})
  list(REMOVE_DUPLICATES renamed)
  list(APPEND renamed memchr memcmp memcpy memmove memset strlen strcmp strncmp pread
       malloc calloc realloc posix_memalign free _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t
       _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t)
  list(TRANSFORM renamed REPLACE "^(.+)$" "\\1 plain_\\1\n")
  list(JOIN renamed "" lines)
  file(WRITE ${names} "${lines}")
  execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${names} ${copy} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Sets `result` to the copy's path; link the target cairn_plain_memory with it.
function(add_plain_rocksdb archive result)
  set(copy ${CMAKE_BINARY_DIR}/librocksdb_plain.a)
  if(${archive} IS_NEWER_THAN ${copy} OR ${CMAKE_CURRENT_FUNCTION_LIST_FILE} IS_NEWER_THAN ${copy})
    write_plain_archive(${archive} ${copy})
  endif()
  add_library(cairn_plain_memory STATIC ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plain_memory.cc)
  # The compiler must not turn a copy loop into a call of memcpy.
  target_compile_options(cairn_plain_memory PRIVATE -fno-sanitize=all -fno-tree-loop-distribute-patterns -fno-builtin)
  set(${result} ${copy} PARENT_SCOPE)
endfunction()
