# Makes a copy of RocksDB's archive whose accesses to memory ThreadSanitizer does not see.
#
# The archive is not instrumented, so the sanitizer sees its locks, which are functions, but not its atomics. It must
# not see its memory then, or all that RocksDB hands from thread to thread by an atomic is a race. Memory is seen
# where RocksDB calls a function that the sanitizer intercepts (plain_memory.cc stands in for these), and where it
# calls an inline function, of which the linker keeps the instrumented copy of ours: so its own copies get names of
# their own. It has none of std::string's functions, so plain_strings.cc adds them. What our code does with RocksDB's
# memory is seen as before.
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
  # Both forms of a constructor or destructor can be in one group of the linker's, which has a name of its own.
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

# Sets `result` to the copy's path; target cairn_plain_memory goes with it.
function(add_plain_rocksdb archive result)
  set(copy ${CMAKE_BINARY_DIR}/librocksdb_plain.a)
  if(${archive} IS_NEWER_THAN ${copy} OR ${CMAKE_CURRENT_FUNCTION_LIST_FILE} IS_NEWER_THAN ${copy})
    write_plain_archive(${archive} ${copy})
  endif()
  add_library(cairn_plain_memory STATIC ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plain_memory.cc)
  # A loop that copies must not become a call of memcpy.
  target_compile_options(cairn_plain_memory PRIVATE -fno-sanitize=all -fno-tree-loop-distribute-patterns -fno-builtin)
  set(${result} ${copy} PARENT_SCOPE)
endfunction()
