// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces functions of the C library that RocksDB calls, in a build with ThreadSanitizer (plain_rocksdb.cmake). The
// sanitizer sees memory accesses in the functions it intercepts, so it would see RocksDB's accesses but not the atomics
// that order them. The code here is not instrumented. It allocates and frees memory while writes are ignored, because
// the sanitizer treats both as writes.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

extern "C" {
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

struct IgnoredWrites {
  IgnoredWrites() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
  ~IgnoredWrites() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
};

}  // namespace

extern "C" {

void* plain_memcpy(void* to, const void* from, size_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  for (size_t i = 0; i < size; ++i) out[i] = in[i];
  return to;
}

void* plain_memmove(void* to, const void* from, size_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  if (out < in) return plain_memcpy(to, from, size);
  for (size_t i = size; i > 0; --i) out[i - 1] = in[i - 1];
  return to;
}

void* plain_memset(void* to, int byte, size_t size) {
  auto* out = static_cast<char*>(to);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>(byte);
  return to;
}

int plain_memcmp(const void* left, const void* right, size_t size) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}

void* plain_memchr(const void* bytes, int byte, size_t size) {
  const auto* in = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) {
    if (in[i] == static_cast<unsigned char>(byte)) return const_cast<unsigned char*>(in + i);
  }
  return nullptr;
}

size_t plain_strlen(const char* text) {
  size_t size = 0;
  while (text[size] != 0) ++size;
  return size;
}

int plain_strncmp(const char* left, const char* right, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const auto a = static_cast<unsigned char>(left[i]);
    const auto b = static_cast<unsigned char>(right[i]);
    if (a != b) return a - b;
    if (a == 0) return 0;
  }
  return 0;
}

int plain_strcmp(const char* left, const char* right) { return plain_strncmp(left, right, SIZE_MAX); }

ssize_t plain_pread(int fd, void* to, size_t size, off_t offset) { return syscall(SYS_pread64, fd, to, size, offset); }

void* plain_malloc(size_t size) {
  const IgnoredWrites ignored;
  return std::malloc(size);
}

void* plain_calloc(size_t count, size_t size) {
  const IgnoredWrites ignored;
  return std::calloc(count, size);
}

void* plain_realloc(void* memory, size_t size) {
  const IgnoredWrites ignored;
  return std::realloc(memory, size);
}

int plain_posix_memalign(void** memory, size_t alignment, size_t size) {
  const IgnoredWrites ignored;
  return posix_memalign(memory, alignment, size);
}

void plain_free(void* memory) {
  const IgnoredWrites ignored;
  std::free(memory);
}

// All forms of operator new and delete.
void* plain__Znwm(size_t size) {
  const IgnoredWrites ignored;
  return ::operator new(size);
}
void* plain__ZnwmSt11align_val_t(size_t size, std::align_val_t alignment) {
  const IgnoredWrites ignored;
  return ::operator new(size, alignment);
}
void* plain__Znam(size_t size) { return plain__Znwm(size); }
void* plain__ZnamSt11align_val_t(size_t size, std::align_val_t alignment) {
  return plain__ZnwmSt11align_val_t(size, alignment);
}
void plain__ZdlPv(void* memory) { plain_free(memory); }
void plain__ZdaPv(void* memory) { plain_free(memory); }
void plain__ZdlPvm(void* memory, size_t) { plain_free(memory); }
void plain__ZdaPvm(void* memory, size_t) { plain_free(memory); }
void plain__ZdlPvSt11align_val_t(void* memory, std::align_val_t) { plain_free(memory); }
void plain__ZdaPvSt11align_val_t(void* memory, std::align_val_t) { plain_free(memory); }
void plain__ZdlPvmSt11align_val_t(void* memory, size_t, std::align_val_t) { plain_free(memory); }

}  // extern "C"
