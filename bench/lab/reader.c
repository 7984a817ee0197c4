// SPDX-License-Identifier: BSD-3-Clause
//
// reader: one connection that reads random keys and records the duration of each read.
//
//   reader PORT KEYS SECONDS INTERVAL_US SEED
//
// Sends GET key:%012d for a random number below KEYS at each tick of INTERVAL_US (0: at once after the last reply),
// waits for the whole reply, and repeats until SECONDS have passed. Ticks that pass during a read are skipped. Prints
// one line of JSON: the number of reads, the number of misses, and p50, p90, p99, p999 and the highest latency in
// milliseconds.
//
// With ticks every moment has the same weight: a reader without them sends a hundred requests in a good millisecond and
// one in a bad one, so its p99 describes only the good ones.
//
// It is in C because it shares two cores with the measured servers: an interpreter's own time per read would be a large
// part of the result. It blocks in recv and uses no CPU while it waits.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { kMaxReads = 20000000, kBufferBytes = 1 << 16 };

static void Fail(const char* what) {
  fprintf(stderr, "reader: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void SleepUntil(uint64_t when) {
  const struct timespec t = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

// xorshift64*: enough to spread reads over the keys.
static uint64_t NextRandom(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

static int Connect(int port) {
  const int one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) != 0) Fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

// Reads one whole bulk reply. Returns 1 if there was a value, 0 for a null.
static int ReadBulk(int fd) {
  static char buffer[kBufferBytes];
  size_t have = 0;
  size_t want = 0;  // 0 until the length line is complete
  while (want == 0 || have < want) {
    const ssize_t n = recv(fd, buffer + have, sizeof buffer - have, 0);
    if (n <= 0) Fail("recv");
    have += (size_t)n;
    const char* end = memchr(buffer, '\n', have);
    if (end == NULL) continue;
    if (buffer[0] != '$') {
      fprintf(stderr, "reader: unexpected reply %.*s\n", (int)(end - buffer), buffer);
      exit(1);
    }
    const long length = strtol(buffer + 1, NULL, 10);
    if (length < 0) return 0;
    want = (size_t)(end - buffer) + 1 + (size_t)length + 2;
    if (want > sizeof buffer) Fail("a value beyond the buffer");
  }
  return 1;
}

static int CompareTimes(const void* a, const void* b) {
  const uint32_t x = *(const uint32_t*)a;
  const uint32_t y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}

static double Milliseconds(const uint32_t* times, size_t count, double share) {
  const size_t index = (size_t)(share * (double)(count - 1));
  return times[index] / 1e6;
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: reader PORT KEYS SECONDS INTERVAL_US SEED\n");
    return 2;
  }
  const uint64_t keys = strtoull(argv[2], NULL, 10);
  const uint64_t interval = strtoull(argv[4], NULL, 10) * 1000;
  uint64_t random = strtoull(argv[5], NULL, 10) * 2 + 1;
  uint32_t* times = malloc(sizeof *times * kMaxReads);
  if (times == NULL) Fail("malloc");

  const int fd = Connect(atoi(argv[1]));
  prctl(PR_SET_TIMERSLACK, 1);
  uint64_t tick = Now();
  const uint64_t end = tick + (uint64_t)(strtod(argv[3], NULL) * 1e9);
  size_t count = 0;
  size_t misses = 0;
  while (count < kMaxReads && Now() < end) {
    char request[64];
    const int size = snprintf(request, sizeof request, "*2\r\n$3\r\nGET\r\n$16\r\nkey:%012llu\r\n",
                              (unsigned long long)(NextRandom(&random) % keys));
    const uint64_t before = Now();
    if (send(fd, request, (size_t)size, 0) != size) Fail("send");
    misses += !ReadBulk(fd);
    const uint64_t took = Now() - before;
    times[count++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    if (interval != 0) {
      tick += ((Now() - tick) / interval + 1) * interval;
      SleepUntil(tick);
    }
  }
  if (count == 0) return 1;

  qsort(times, count, sizeof *times, CompareTimes);
  printf(
      "{\"reads\": %zu, \"misses\": %zu, \"p50_ms\": %.3f, \"p90_ms\": %.3f, \"p99_ms\": %.3f, "
      "\"p999_ms\": %.3f, \"max_ms\": %.3f}\n",
      count, misses, Milliseconds(times, count, 0.50), Milliseconds(times, count, 0.90),
      Milliseconds(times, count, 0.99), Milliseconds(times, count, 0.999), Milliseconds(times, count, 1.0));
  return 0;
}
