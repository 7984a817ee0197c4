/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library for LD_PRELOAD that makes system calls on files fail, write less than asked, or wait, and shifts the wall
 * clock.
 *
 * The environment variable FAULT_CONTROL names a file that holds a struct Control. The library maps it, and so does
 * the test (fault_control.py has the same layout): the test writes which calls shall fail and arms the fault, before
 * the process starts or while it runs, and reads the counters.
 *
 * While a fault is armed, each call of `kinds` on a file whose path matches `pattern` is numbered, from 1. From number
 * `first` on, the next `count` calls of `hit_kinds` on files that match `hit_pattern` are hit; the others go through.
 * An unarmed library passes every call through and looks at nothing.
 *
 * The wrappers make system calls by number, so they work before the C library is ready (jemalloc maps memory from its
 * constructor) and need no symbol of the library they replace. Sockets, pipes and anonymous mappings are no files and
 * are never touched. The C library's own calls (fopen, fwrite) do not come this way.
 *
 * Thread: any. All fields that both sides write are atomic.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum Kind {
  kWrite,     /* write, pwrite, writev, pwritev, pwritev2 */
  kSync,      /* fsync, fdatasync */
  kSyncRange, /* sync_file_range */
  kAllocate,  /* fallocate, posix_fallocate */
  kOpen,      /* open, openat, creat */
  kRename,    /* rename, renameat; the old name counts */
  kTruncate,  /* ftruncate, truncate */
  kMap,       /* mmap of a file */
  kLink,      /* link; the old name counts */
  kRead,      /* read, pread, readv, preadv, preadv2 */
  kKinds
};

enum Action {
  kPass,  /* only count */
  kFail,  /* return `error`; the call is not made */
  kShort, /* write half of the bytes; other calls than writes are made */
  kTorn,  /* the first call writes half of the bytes, the others return `error` */
  kDelay  /* wait `delay_ms`, or until the fault is disarmed, then make the call */
};

enum { kPatternSize = 256 };

/* LAYOUT in fault_control.py has the same offsets. */
struct Control {
  uint32_t armed;
  uint32_t kinds; /* bits 1 << Kind, also below */
  uint32_t hit_kinds;
  uint32_t action;
  int32_t error;
  uint32_t unused;
  uint64_t delay_ms;
  uint64_t first;
  uint64_t count;
  uint64_t seen;              /* matching calls since the test set it to 0 */
  uint64_t claimed;           /* calls with a number of `first` or more, also those after `count` */
  uint64_t fired;             /* calls hit since then */
  uint64_t fired_by[kKinds];  /* the same, by kind */
  char pattern[kPatternSize]; /* globs, separated by '|' */
  char hit_pattern[kPatternSize];
  char last[kPatternSize]; /* path of the last call that was hit */
  int64_t clock_shift_s;   /* added to the wall clock, also while no fault is armed */
};

static struct Control* control;

__attribute__((constructor)) static void MapControl(void) {
  const char* path = getenv("FAULT_CONTROL");
  if (path == NULL) return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void* mapped = (void*)syscall(SYS_mmap, NULL, sizeof(struct Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
  syscall(SYS_close, fd);
  if (mapped != MAP_FAILED) __atomic_store_n(&control, mapped, __ATOMIC_RELEASE);
}

/* ---- the wall clock */

int clock_gettime(clockid_t clock, struct timespec* now) {
  const long result = syscall(SYS_clock_gettime, clock, now);
  struct Control* c = __atomic_load_n(&control, __ATOMIC_ACQUIRE);
  const int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && c != NULL && is_wall) now->tv_sec += __atomic_load_n(&c->clock_shift_s, __ATOMIC_RELAXED);
  return (int)result;
}

time_t time(time_t* seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* now, void* zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

/* ---- which calls are hit */

/* '*' is any text, '?' any character. */
static int MatchesGlob(const char* glob, const char* end, const char* text) {
  const char* star = NULL;
  const char* resume = NULL;
  while (*text != '\0') {
    if (glob < end && *glob == '*') {
      star = glob++;
      resume = text;
    } else if (glob < end && (*glob == '?' || *glob == *text)) {
      ++glob;
      ++text;
    } else if (star != NULL) {
      glob = star + 1;
      text = ++resume;
    } else {
      return 0;
    }
  }
  while (glob < end && *glob == '*') ++glob;
  return glob == end;
}

/* A glob without '/' matches the last part of the path. */
static int MatchesPattern(const char* pattern, const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash == NULL ? path : slash + 1;
  for (;;) {
    const char* end = strchrnul(pattern, '|');
    const int is_path = memchr(pattern, '/', (size_t)(end - pattern)) != NULL;
    if (end != pattern && MatchesGlob(pattern, end, is_path ? path : name)) return 1;
    if (*end == '\0') return 0;
    pattern = end + 1;
  }
}

/* The armed fault if it applies to this kind of call, else NULL. */
static struct Control* ArmedFor(enum Kind kind) {
  struct Control* c = __atomic_load_n(&control, __ATOMIC_ACQUIRE);
  if (c == NULL || !__atomic_load_n(&c->armed, __ATOMIC_ACQUIRE)) return NULL;
  return c->kinds & (1u << kind) ? c : NULL;
}

static void AwaitDelay(struct Control* c) {
  const struct timespec step = {0, 1000000};
  struct timespec now, begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    syscall(SYS_nanosleep, &step, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ms = (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
    if (ms >= (int64_t)c->delay_ms) return;
  } while (__atomic_load_n(&c->armed, __ATOMIC_ACQUIRE));
}

/* Decides the result of a call on `path`; waits for the end of a delay. */
static enum Action Judge(struct Control* c, enum Kind kind, const char* path) {
  if (path[0] != '/' || !MatchesPattern(c->pattern, path)) return kPass;
  const uint64_t number = __atomic_add_fetch(&c->seen, 1, __ATOMIC_ACQ_REL);
  if (c->action == kPass || number < c->first || !(c->hit_kinds & (1u << kind))) return kPass;
  if (!MatchesPattern(c->hit_pattern, path)) return kPass;
  const uint64_t turn = __atomic_fetch_add(&c->claimed, 1, __ATOMIC_ACQ_REL);
  if (turn >= c->count) return kPass;
  __atomic_add_fetch(&c->fired_by[kind], 1, __ATOMIC_RELAXED);
  strncpy(c->last, path, kPatternSize - 1);
  __atomic_add_fetch(&c->fired, 1, __ATOMIC_RELEASE);
  if (c->action == kDelay) {
    AwaitDelay(c);
    return kPass;
  }
  if (c->action == kTorn) return turn == 0 && kind == kWrite ? kShort : kFail;
  return (enum Action)c->action;
}

static enum Action JudgeFd(struct Control* c, enum Kind kind, int fd) {
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (size <= 0) return kPass;
  path[size] = '\0';
  return Judge(c, kind, path);
}

/* Prepends the working directory to a relative path, so globs see whole paths. */
static enum Action JudgePath(struct Control* c, enum Kind kind, const char* path) {
  char whole[2 * PATH_MAX];
  if (path[0] == '/') return Judge(c, kind, path);
  const long size = syscall(SYS_getcwd, whole, PATH_MAX);
  if (size <= 0) return kPass;
  snprintf(whole + size - 1, PATH_MAX, "/%s", path);
  return Judge(c, kind, whole);
}

static enum Action OnFd(enum Kind kind, int fd) {
  struct Control* c = ArmedFor(kind);
  return c == NULL ? kPass : JudgeFd(c, kind, fd);
}

static enum Action OnPath(enum Kind kind, const char* path) {
  struct Control* c = ArmedFor(kind);
  return c == NULL || path == NULL ? kPass : JudgePath(c, kind, path);
}

/* Under kShort a call that does not write is made as usual. */
static int IsRefused(enum Action action) {
  if (action != kFail) return 0;
  errno = control->error;
  return 1;
}

static size_t Half(enum Action action, size_t size) { return action == kShort && size > 1 ? size / 2 : size; }

/* ---- the wrappers */

ssize_t write(int fd, const void* data, size_t size) {
  const enum Action action = OnFd(kWrite, fd);
  return IsRefused(action) ? -1 : syscall(SYS_write, fd, data, Half(action, size));
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  const enum Action action = OnFd(kWrite, fd);
  return IsRefused(action) ? -1 : syscall(SYS_pwrite64, fd, data, Half(action, size), offset);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }

/* A short call writes only half of the first part. */
ssize_t writev(int fd, const struct iovec* parts, int count) {
  const enum Action action = OnFd(kWrite, fd);
  if (IsRefused(action)) return -1;
  if (action == kShort && count > 0) return syscall(SYS_write, fd, parts[0].iov_base, Half(action, parts[0].iov_len));
  return syscall(SYS_writev, fd, parts, count);
}

ssize_t pwritev64v2(int fd, const struct iovec* parts, int count, off64_t offset, int flags) {
  const enum Action action = OnFd(kWrite, fd);
  if (IsRefused(action)) return -1;
  if (action == kShort && count > 0) {
    return syscall(SYS_pwrite64, fd, parts[0].iov_base, Half(action, parts[0].iov_len), offset);
  }
  return syscall(SYS_pwritev2, fd, parts, count, offset, 0L, flags);
}

ssize_t pwritev2(int fd, const struct iovec* parts, int count, off_t offset, int flags) {
  return pwritev64v2(fd, parts, count, offset, flags);
}

ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return pwritev64v2(fd, parts, count, offset, 0);
}

ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) {
  return pwritev64v2(fd, parts, count, offset, 0);
}

ssize_t read(int fd, void* data, size_t size) {
  return IsRefused(OnFd(kRead, fd)) ? -1 : syscall(SYS_read, fd, data, size);
}

ssize_t pread64(int fd, void* data, size_t size, off64_t offset) {
  return IsRefused(OnFd(kRead, fd)) ? -1 : syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t pread(int fd, void* data, size_t size, off_t offset) { return pread64(fd, data, size, offset); }

ssize_t readv(int fd, const struct iovec* parts, int count) {
  return IsRefused(OnFd(kRead, fd)) ? -1 : syscall(SYS_readv, fd, parts, count);
}

ssize_t preadv64v2(int fd, const struct iovec* parts, int count, off64_t offset, int flags) {
  return IsRefused(OnFd(kRead, fd)) ? -1 : syscall(SYS_preadv2, fd, parts, count, offset, 0L, flags);
}

ssize_t preadv2(int fd, const struct iovec* parts, int count, off_t offset, int flags) {
  return preadv64v2(fd, parts, count, offset, flags);
}

ssize_t preadv64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return preadv64v2(fd, parts, count, offset, 0);
}

ssize_t preadv(int fd, const struct iovec* parts, int count, off_t offset) {
  return preadv64v2(fd, parts, count, offset, 0);
}

/* Fortified callers call these instead of read and pread. */
ssize_t __read_chk(int fd, void* data, size_t size, size_t most) { return read(fd, data, size < most ? size : most); }
ssize_t __pread64_chk(int fd, void* data, size_t size, off64_t offset, size_t most) {
  return pread64(fd, data, size < most ? size : most, offset);
}
ssize_t __pread_chk(int fd, void* data, size_t size, off_t offset, size_t most) {
  return __pread64_chk(fd, data, size, offset, most);
}

int fsync(int fd) { return IsRefused(OnFd(kSync, fd)) ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return IsRefused(OnFd(kSync, fd)) ? -1 : (int)syscall(SYS_fdatasync, fd); }

/* RocksDB tests for the call with an empty range, and asserts that any errno except ENOSYS means that it exists. */
int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags) {
  return size > 0 && IsRefused(OnFd(kSyncRange, fd)) ? -1 : (int)syscall(SYS_sync_file_range, fd, offset, size, flags);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  return IsRefused(OnFd(kAllocate, fd)) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size) { return fallocate64(fd, mode, offset, size); }

/* It returns the error itself. If the file system cannot allocate, it fails too, and callers continue without. */
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
  return fallocate64(fd, 0, offset, size) == 0 ? 0 : errno;
}

int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }

/* The optional argument. */
#define MODE_OF(flags)                   \
  mode_t mode = 0;                       \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list arguments;                   \
    va_start(arguments, flags);          \
    mode = va_arg(arguments, mode_t);    \
    va_end(arguments);                   \
  }

int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  const int is_whole = folder == AT_FDCWD || path[0] == '/';
  if (is_whole && IsRefused(OnPath(kOpen, path))) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return openat64(folder, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return openat64(AT_FDCWD, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return openat64(AT_FDCWD, path, flags, mode);
}

int creat64(const char* path, mode_t mode) { return openat64(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat(const char* path, mode_t mode) { return creat64(path, mode); }

/* Fortified callers call these instead of open and openat. */
int __open_2(const char* path, int flags) { return openat64(AT_FDCWD, path, flags); }
int __open64_2(const char* path, int flags) { return openat64(AT_FDCWD, path, flags); }
int __openat_2(int folder, const char* path, int flags) { return openat64(folder, path, flags); }
int __openat64_2(int folder, const char* path, int flags) { return openat64(folder, path, flags); }

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return IsRefused(OnPath(kRename, from)) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int link(const char* from, const char* to) {
  return IsRefused(OnPath(kLink, from)) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int ftruncate64(int fd, off64_t size) {
  return IsRefused(OnFd(kTruncate, fd)) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int truncate64(const char* path, off64_t size) {
  return IsRefused(OnPath(kTruncate, path)) ? -1 : (int)syscall(SYS_truncate, path, size);
}

int truncate(const char* path, off_t size) { return truncate64(path, size); }

void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) {
  const int is_file = fd >= 0 && !(flags & MAP_ANONYMOUS);
  if (is_file && IsRefused(OnFd(kMap, fd))) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap64(at, size, protection, flags, fd, offset);
}
