// SPDX-License-Identifier: BSD-3-Clause
//
// hot_cold: connections that read a few hot keys repeatedly, and sometimes a cold key.
//
//   hot_cold PORT CONNECTIONS DEPTH HOT KEYS COLD_PERCENT SECONDS SEED
//
// Each connection sends DEPTH times GET key:%012d at once, waits for all replies, and repeats. A request is cold with a
// probability of COLD_PERCENT: its key is a random one from HOT up to KEYS, else one below HOT. Prints one line of
// JSON: reads a second, the numbers of hot and cold reads, and for each kind p50, p99 and p999 in milliseconds, from
// the sending of the request to the arrival of its reply.
//
// In C, with one thread, for the same reason as reader.c: it shares its cores with the measured server.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { kMostConnections = 1024, kMostDepth = 64, kMostTimes = 8000000, kBufferBytes = 1 << 18, kRequestBytes = 36 };

struct Times {
  uint32_t* all;
  size_t count;
};

struct Connection {
  int fd;
  char* buffer;  // received replies; kBufferBytes
  size_t have;
  int waiting;  // the number of missing replies
  int next;     // the sent request whose reply comes next
  uint64_t sent_ns;
  unsigned char is_cold[kMostDepth];
};

struct Load {
  int depth;
  uint64_t hot, keys, cold_percent, random;
  struct Times times[2];  // of hot reads, of cold ones
};

static void Fail(const char* what) {
  fprintf(stderr, "hot_cold: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// SplitMix64.
static uint64_t NextRandom(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int Connect(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) != 0) Fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void Ask(struct Load* load, struct Connection* connection) {
  char requests[kMostDepth * (kRequestBytes + 1)];
  size_t size = 0;
  for (int i = 0; i < load->depth; ++i) {
    const int cold = NextRandom(&load->random) % 100 < load->cold_percent;
    const uint64_t draw = NextRandom(&load->random);
    const uint64_t key = cold ? load->hot + draw % (load->keys - load->hot) : draw % load->hot;
    connection->is_cold[i] = (unsigned char)cold;
    size += (size_t)snprintf(requests + size, sizeof requests - size, "*2\r\n$3\r\nGET\r\n$16\r\nkey:%012llu\r\n",
                             (unsigned long long)key);
  }
  connection->waiting = load->depth;
  connection->next = 0;
  connection->sent_ns = Now();
  if (send(connection->fd, requests, size, 0) != (ssize_t)size) Fail("send");
}

// The size of the first reply, a bulk string; 0 when it is not whole yet.
static size_t ReplySize(const char* bytes, size_t size) {
  const char* end = memchr(bytes, '\n', size);
  if (end == NULL) return 0;
  if (bytes[0] != '$' || bytes[1] == '-') {
    fprintf(stderr, "hot_cold: unexpected reply %.*s\n", (int)(end - bytes), bytes);
    exit(1);
  }
  const size_t whole = (size_t)(end - bytes) + 1 + strtoul(bytes + 1, NULL, 10) + 2;
  return whole <= size ? whole : 0;
}

static void Take(struct Load* load, struct Connection* connection) {
  const ssize_t n = recv(connection->fd, connection->buffer + connection->have, kBufferBytes - connection->have, 0);
  if (n <= 0) Fail("recv");
  connection->have += (size_t)n;
  const uint64_t took = Now() - connection->sent_ns;
  size_t start = 0;
  size_t size;
  while ((size = ReplySize(connection->buffer + start, connection->have - start)) != 0) {
    start += size;
    struct Times* times = &load->times[connection->is_cold[connection->next++]];
    if (times->count < kMostTimes) times->all[times->count++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    --connection->waiting;
  }
  memmove(connection->buffer, connection->buffer + start, connection->have - start);
  connection->have -= start;
  if (connection->waiting == 0) Ask(load, connection);
}

static int CompareTimes(const void* a, const void* b) {
  const uint32_t x = *(const uint32_t*)a;
  const uint32_t y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}

static void Print(const char* name, struct Times* times) {
  qsort(times->all, times->count, sizeof *times->all, CompareTimes);
  const double shares[] = {0.5, 0.99, 0.999};
  const char* const names[] = {"p50", "p99", "p999"};
  printf(", \"%s\": %zu", name, times->count);
  for (int i = 0; i < 3; ++i) {
    const double ns = times->count == 0 ? 0 : times->all[(size_t)(shares[i] * (double)(times->count - 1))];
    printf(", \"%s_%s_ms\": %.3f", name, names[i], ns / 1e6);
  }
}

int main(int argc, char** argv) {
  if (argc != 9) {
    fprintf(stderr, "usage: hot_cold PORT CONNECTIONS DEPTH HOT KEYS COLD_PERCENT SECONDS SEED\n");
    return 2;
  }
  const int connections = atoi(argv[2]);
  struct Load load = {.depth = atoi(argv[3]),
                      .hot = strtoull(argv[4], NULL, 10),
                      .keys = strtoull(argv[5], NULL, 10),
                      .cold_percent = strtoull(argv[6], NULL, 10),
                      .random = strtoull(argv[8], NULL, 10)};
  if (connections < 1 || connections > kMostConnections || load.depth < 1 || load.depth > kMostDepth) return 2;
  for (int i = 0; i < 2; ++i) load.times[i].all = malloc(sizeof(uint32_t) * kMostTimes);
  if (load.times[0].all == NULL || load.times[1].all == NULL) Fail("malloc");

  static struct Connection all[kMostConnections];
  const int poll = epoll_create1(0);
  for (int i = 0; i < connections; ++i) {
    all[i].fd = Connect(atoi(argv[1]));
    all[i].buffer = malloc(kBufferBytes);
    if (all[i].buffer == NULL) Fail("malloc");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
    epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &event);
  }
  const uint64_t start = Now();
  const uint64_t end = start + (uint64_t)(strtod(argv[7], NULL) * 1e9);
  for (int i = 0; i < connections; ++i) Ask(&load, &all[i]);
  while (Now() < end) {
    struct epoll_event events[64];
    const int ready = epoll_wait(poll, events, 64, 1000);
    for (int i = 0; i < ready; ++i) Take(&load, events[i].data.ptr);
  }
  const double seconds = (double)(Now() - start) / 1e9;
  printf("{\"per_second\": %.0f", (double)(load.times[0].count + load.times[1].count) / seconds);
  Print("hot", &load.times[0]);
  Print("cold", &load.times[1]);
  printf("}\n");
  return 0;
}
