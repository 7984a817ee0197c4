// SPDX-License-Identifier: BSD-3-Clause
//
// beyond_memory: the load of bench/beyond_memory. One thread, many connections, one request at a time on each.
//
//   beyond_memory SECONDS KEYS SEED GROUP...      GROUP: PORT,KIND,CONNECTIONS,RATE
//
// RATE is requests a second of the whole group; 0: each connection sends its next request when it has its reply. A-B:
// the rate rises evenly from A to B. With a rate, latency counts from the moment at which the request was due, so a
// stall counts for every request that it delayed. The kinds:
//
//   load     object 0 to KEYS - 1, once each; the run ends when all are written
//   write    HMSET, SADD, ZADD, GEOADD, ZREM and DEL of random objects
//   read     HGETALL, SMEMBERS, ZRANGE and GEOSEARCH of random objects
//   loadstr  SET of string 0 to KEYS - 1, 1 KB of noise each     get, absent   GET of random ones, of missing ones
//   loadhash HSET of hash 0 to KEYS - 1, 25 fields of 16 bytes   hgetall       HGETALL of random ones
//   set      SET of random strings                               hset           HSET of one field of random hashes
//   loadset, loadzset, loadgeo, loadcounts, loadtexts    collection 0 to KEYS - 1 of 300 to 1,000 members: numbers
//   below
//            10 million; such numbers with scores below a million; places; numbers as fields and values of a hash;
//            fields with the values that a hash object has
//
// An object is a hash of 5 fields, a set of 8 numbers, a sorted set of 8 or a geo set of 4 places, by its number.
// Prints a line of JSON for each group: requests, errors, seconds, p50_ms to max_ms, the least requests that were
// answered in any whole second, and by_second: for each second its requests, p50, p99, p99.9 and maximum in ms.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  kMostGroups = 8,
  kMostConnections = 2048,
  kBufferBytes = 1 << 16,
  kBuckets = 64 * 16,
  kMostSeconds = 1 << 16,
  kValueBytes = 1024,
  kNoiseBytes = 1 << 20
};

enum Kind {
  kLoad,
  kLoadStr,
  kLoadHash,
  kLoadSet,
  kLoadZset,
  kLoadGeo,
  kLoadCounts,
  kLoadTexts,
  kLoads,  // the kinds above end when all KEYS are written
  kWrite = kLoads,
  kRead,
  kGet,
  kAbsent,
  kHGetAll,
  kSet,
  kHSet,
  kKinds
};
static const char* const kNames[kKinds] = {"load",    "loadstr",    "loadhash",  "loadset", "loadzset",
                                           "loadgeo", "loadcounts", "loadtexts", "write",   "read",
                                           "get",     "absent",     "hgetall",   "set",     "hset"};

// Latencies of requests, in ns, in buckets of a sixteenth of a power of two.
struct Latencies {
  uint64_t count;
  uint64_t most_ns;
  uint32_t buckets[kBuckets];
};

// The latencies of one second, in ms.
struct Second {
  uint32_t count;
  float p50, p99, p999, most;
};

struct Group {
  enum Kind kind;
  int port;
  int connections;
  double rate;       // at the start; 0: no pauses
  double end_rate;   // at the end
  double due_ns;     // when the next request is due, after the start
  uint64_t started;  // requests
  uint64_t errors;
  struct Latencies all;
  struct Latencies this_second;
  struct Second seconds[kMostSeconds];
  uint64_t second;  // the current one
};

struct Connection {
  struct Group* group;
  int fd;
  bool busy;
  uint64_t due_ns;
  size_t in_size;
  char in[kBufferBytes];
};

static struct Group groups[kMostGroups];
static struct Connection connections[kMostConnections];
static int group_count, connection_count;
static uint64_t keys, random_state, begin_ns;
static double run_ns;
static char noise[kNoiseBytes];
static char out[kBufferBytes];
static size_t out_size;

static void Fail(const char* what) {
  fprintf(stderr, "beyond_memory: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// xorshift64*
static uint64_t Random(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 2685821657736338717u;
}

// A hash of the object's number, which determines its contents.
static uint64_t Mix(uint64_t number) {
  number = (number ^ (number >> 31)) * 0x9e3779b97f4a7c15u;
  return number ^ (number >> 29);
}

// ---- requests

static void Begin(int words) { out_size = (size_t)sprintf(out, "*%d\r\n", words); }

static void Bytes(const char* bytes, size_t size) {
  out_size += (size_t)sprintf(out + out_size, "$%zu\r\n", size);
  memcpy(out + out_size, bytes, size);
  memcpy(out + out_size + size, "\r\n", 2);
  out_size += size + 2;
}

__attribute__((format(printf, 1, 2))) static void Word(const char* format, ...) {
  char word[128];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(word, sizeof word, format, arguments);
  va_end(arguments);
  Bytes(word, (size_t)size);
}

static void Noise(size_t size) { Bytes(noise + Random() % (kNoiseBytes - size), size); }

static void Coordinates(void) {
  Word("%.6f", (double)(Random() % 360000000) / 1e6 - 180);
  Word("%.6f", (double)(Random() % 160000000) / 1e6 - 80);
}

// Writes collection `n`.
static void WriteCollection(enum Kind kind, uint64_t n) {
  static const char* const kCommands[kLoads] = {
      [kLoadSet] = "SADD", [kLoadZset] = "ZADD", [kLoadGeo] = "GEOADD", [kLoadCounts] = "HSET", [kLoadTexts] = "HSET"};
  const int members = 300 + (int)(Mix(n) % 701);
  Begin(2 + members * (kind == kLoadSet ? 1 : kind == kLoadGeo ? 3 : 2));
  Word("%s", kCommands[kind]);
  Word("collection:%llu", (unsigned long long)n);
  for (int i = 0; i < members; ++i) {
    if (kind == kLoadTexts) {
      Word("field%d", i);
      Word("%llu:%llx", (unsigned long long)(Mix(n) >> i % 8), (unsigned long long)Random());
      continue;
    }
    if (kind == kLoadZset) Word("%llu", (unsigned long long)(Random() % 1000000));
    if (kind == kLoadGeo) Coordinates();
    Word(kind == kLoadGeo ? "place:%llu" : "%llu", (unsigned long long)(Random() % 10000000));
    if (kind == kLoadCounts) Word("%llu", (unsigned long long)(Random() % 1000000));
  }
}

// Writes the whole object, or one new part of it.
static void Write(uint64_t n, bool whole) {
  const uint64_t mix = Mix(n);
  const int parts = whole ? (n % 4 == 0 ? 5 : n % 4 == 3 ? 4 : 8) : 1;
  const uint64_t first = whole ? 0 : Random() % 8;
  switch (n % 4) {
    case 0:
      Begin(2 + 2 * parts);
      Word("HMSET");
      Word("object:%llu", (unsigned long long)n);
      for (int i = 0; i < parts; ++i) {
        Word("field%d", (int)((first + (uint64_t)i) % 5));
        Word("%llu:%llx", (unsigned long long)(mix >> i), (unsigned long long)Random());
      }
      return;
    case 1:
      Begin(2 + parts);
      Word("SADD");
      Word("object:%llu", (unsigned long long)n);
      for (int i = 0; i < parts; ++i) Word("%llu", (unsigned long long)((mix >> (first + (uint64_t)i)) % 10000000));
      return;
    case 2:
      Begin(2 + 2 * parts);
      Word("ZADD");
      Word("object:%llu", (unsigned long long)n);
      for (int i = 0; i < parts; ++i) {
        Word("%llu", (unsigned long long)(Random() % 1000000));
        Word("%llu", (unsigned long long)((mix >> (first + (uint64_t)i)) % 10000000));
      }
      return;
    default:
      Begin(2 + 3 * parts);
      Word("GEOADD");
      Word("object:%llu", (unsigned long long)n);
      for (int i = 0; i < parts; ++i) {
        Coordinates();
        Word("place:%llu", (unsigned long long)((mix >> (first + (uint64_t)i)) % 100000));
      }
  }
}

static void WriteRandom(void) {
  const uint64_t n = Random() % keys;
  const uint64_t choice = Random() % 20;
  if (choice == 0) {
    Begin(2);
    Word("DEL");
    Word("object:%llu", (unsigned long long)n);
  } else if (choice < 3 && n % 4 == 2) {
    Begin(3);
    Word("ZREM");
    Word("object:%llu", (unsigned long long)n);
    Word("%llu", (unsigned long long)((Mix(n) >> (Random() % 8)) % 10000000));
  } else {
    Write(n, choice < 6);
  }
}

static void ReadRandom(void) {
  const uint64_t n = Random() % keys;
  static const char* const kCommands[] = {"HGETALL", "SMEMBERS", "ZRANGE", "GEOSEARCH"};
  static const int kWords[] = {2, 2, 4, 8};
  Begin(kWords[n % 4]);
  Word("%s", kCommands[n % 4]);
  Word("object:%llu", (unsigned long long)n);
  if (n % 4 == 2) {
    Word("0");
    Word("-1");
  } else if (n % 4 == 3) {
    Word("FROMLONLAT");
    Coordinates();
    Word("BYRADIUS");
    Word("2000");
    Word("km");
  }
}

// Returns false if there is no more request to send.
static bool Make(struct Group* group) {
  const bool is_load = group->kind < kLoads;
  if (is_load && group->started >= keys) return false;
  const uint64_t n = is_load ? group->started : Random() % keys;
  switch (group->kind) {
    case kLoad: Write(n, true); break;
    case kWrite: WriteRandom(); break;
    case kRead: ReadRandom(); break;
    case kLoadSet:
    case kLoadZset:
    case kLoadGeo:
    case kLoadCounts:
    case kLoadTexts: WriteCollection(group->kind, n); break;
    case kLoadStr:
    case kSet:
      Begin(3);
      Word("SET");
      Word("string:%llu", (unsigned long long)n);
      Noise(kValueBytes);
      break;
    case kGet:
    case kAbsent:
      Begin(2);
      Word("GET");
      Word(group->kind == kGet ? "string:%llu" : "string:%llux", (unsigned long long)n);
      break;
    case kHSet:
      Begin(4);
      Word("HSET");
      Word("hash:%llu", (unsigned long long)n);
      Word("field%d", (int)(Random() % 25));
      Noise(16);
      break;
    case kLoadHash:
      Begin(2 + 2 * 25);
      Word("HSET");
      Word("hash:%llu", (unsigned long long)n);
      for (int i = 0; i < 25; ++i) {
        Word("field%d", i);
        Noise(16);
      }
      break;
    default:
      Begin(2);
      Word("HGETALL");
      Word("hash:%llu", (unsigned long long)n);
  }
  ++group->started;
  return true;
}

// ---- replies

// The end of the reply that begins at `at`, or 0 if it is not complete.
static size_t EndOf(const char* in, size_t size, size_t at) {
  const char* const line_end = memchr(in + at, '\n', size - at);
  if (line_end == NULL) return 0;
  const size_t end = (size_t)(line_end - in) + 1;
  const long count = strtol(in + at + 1, NULL, 10);
  if (in[at] == '$') {
    if (count < 0) return end;
    return end + (size_t)count + 2 <= size ? end + (size_t)count + 2 : 0;
  }
  if (in[at] != '*') return end;
  size_t next = end;
  for (long i = 0; i < count; ++i) {
    if (next >= size || (next = EndOf(in, size, next)) == 0) return 0;
  }
  return next;
}

static int BucketOf(uint64_t ns) {
  if (ns < 16) return (int)ns;
  const int log = 63 - __builtin_clzll(ns);
  return log * 16 + (int)((ns >> (log - 4)) & 15);
}

static double MsOf(int bucket) {
  const int log = bucket / 16;
  return log < 4 ? bucket / 1e6 : (double)((16ull + (uint64_t)(bucket % 16) + 1) << (log - 4)) / 1e6;
}

static double Percentile(const struct Latencies* latencies, double share) {
  uint64_t left = (uint64_t)((double)latencies->count * share);
  for (int i = 0; i < kBuckets; ++i) {
    if (latencies->buckets[i] > left) return MsOf(i);
    left -= latencies->buckets[i];
  }
  return (double)latencies->most_ns / 1e6;
}

static void Add(struct Latencies* latencies, uint64_t ns) {
  ++latencies->count;
  ++latencies->buckets[BucketOf(ns)];
  if (ns > latencies->most_ns) latencies->most_ns = ns;
}

// Ends the group's seconds before this one.
static void EndSeconds(struct Group* group, uint64_t second) {
  for (; group->second < second && group->second < kMostSeconds; ++group->second) {
    struct Latencies* const some = &group->this_second;
    if (some->count == 0) continue;
    group->seconds[group->second] =
        (struct Second){(uint32_t)some->count, (float)Percentile(some, 0.5), (float)Percentile(some, 0.99),
                        (float)Percentile(some, 0.999), (float)((double)some->most_ns / 1e6)};
    memset(some, 0, sizeof *some);
  }
}

static void Note(struct Group* group, uint64_t due_ns, bool is_error) {
  const uint64_t now = Now();
  group->errors += is_error;
  EndSeconds(group, (now - begin_ns) / 1000000000u);
  Add(&group->all, now - due_ns);
  Add(&group->this_second, now - due_ns);
}

// ---- the loop

static void Send(struct Connection* connection, uint64_t due_ns) {
  if (!Make(connection->group)) return;
  connection->busy = true;
  connection->due_ns = due_ns;
  for (size_t sent = 0; sent < out_size;) {
    const ssize_t size = send(connection->fd, out + sent, out_size - sent, MSG_NOSIGNAL);
    if (size <= 0) Fail("send");
    sent += (size_t)size;
  }
}

static void Receive(struct Connection* connection) {
  const ssize_t size =
      recv(connection->fd, connection->in + connection->in_size, kBufferBytes - connection->in_size, MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) Fail("the server closed a connection");
  connection->in_size += (size_t)size;
  if (EndOf(connection->in, connection->in_size, 0) == 0) return;
  const bool is_error = connection->in[0] == '-';
  if (is_error && connection->group->errors == 0) fprintf(stderr, "%.*s", (int)connection->in_size, connection->in);
  connection->in_size = 0;
  connection->busy = false;
  Note(connection->group, connection->due_ns, is_error);
  if (connection->group->rate == 0) Send(connection, Now());
}

static struct Connection* IdleOf(const struct Group* group) {
  for (int i = 0; i < connection_count; ++i) {
    if (connections[i].group == group && !connections[i].busy) return &connections[i];
  }
  return NULL;
}

// The time between two requests of the group now, in ns.
static double Pause(const struct Group* group) {
  const double share = group->due_ns < run_ns ? group->due_ns / run_ns : 1;
  return 1e9 / (group->rate + (group->end_rate - group->rate) * share);
}

// Sends the requests that are due; returns the time of the next one.
static uint64_t SendDue(uint64_t now) {
  uint64_t next = now + 100000000u;
  for (int i = 0; i < group_count; ++i) {
    struct Group* const group = &groups[i];
    if (group->rate == 0) continue;
    for (;;) {
      const uint64_t due = begin_ns + (uint64_t)group->due_ns;
      if (due > now) {
        if (due < next) next = due;
        break;
      }
      struct Connection* const idle = IdleOf(group);
      if (idle == NULL) break;
      Send(idle, due);
      group->due_ns += Pause(group);
    }
  }
  return next;
}

static bool HasLoadToDo(void) {
  for (int i = 0; i < group_count; ++i) {
    if (groups[i].kind < kLoads && groups[i].all.count < keys) return true;
  }
  return false;
}

static void Print(struct Group* group, double seconds) {
  const struct Latencies* const all = &group->all;
  uint32_t least = UINT32_MAX;
  EndSeconds(group, (uint64_t)seconds);
  for (uint64_t i = 0; i + 1 < group->second; ++i) {
    if (group->seconds[i].count < least) least = group->seconds[i].count;
  }
  printf(
      "{\"kind\": \"%s\", \"requests\": %llu, \"errors\": %llu, \"seconds\": %.2f, \"per_second\": %.0f, "
      "\"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, \"max_ms\": %.3f, \"least_in_a_second\": %u, "
      "\"by_second\": [",
      kNames[group->kind], (unsigned long long)all->count, (unsigned long long)group->errors, seconds,
      (double)all->count / seconds, Percentile(all, 0.5), Percentile(all, 0.99), Percentile(all, 0.999),
      (double)all->most_ns / 1e6, least == UINT32_MAX ? 0 : least);
  for (uint64_t i = 0; i < group->second; ++i) {
    const struct Second* const second = &group->seconds[i];
    printf("%s[%u,%.3g,%.3g,%.3g,%.3g]", i == 0 ? "" : ",", second->count, (double)second->p50, (double)second->p99,
           (double)second->p999, (double)second->most);
  }
  printf("]}\n");
}

static void Open(struct Group* group, int poll) {
  for (int i = 0; i < group->connections; ++i) {
    struct Connection* const connection = &connections[connection_count++];
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)group->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int one = 1;
    connection->group = group;
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->fd, (const struct sockaddr*)&address, sizeof address) != 0) Fail("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = connection}};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, connection->fd, &event) != 0) Fail("epoll_ctl");
  }
}

static void ParseGroup(char* text) {
  struct Group* const group = &groups[group_count++];
  char name[32];
  const int read =
      sscanf(text, "%d,%31[^,],%d,%lf-%lf", &group->port, name, &group->connections, &group->rate, &group->end_rate);
  if (read < 4) Fail(text);
  if (read == 4) group->end_rate = group->rate;
  group->kind = kKinds;
  for (int i = 0; i < kKinds; ++i) {
    if (strcmp(name, kNames[i]) == 0) group->kind = (enum Kind)i;
  }
  if (group->kind == kKinds || connection_count + group->connections > kMostConnections) Fail(text);
}

int main(int argc, char** argv) {
  if (argc < 5 || argc - 4 > kMostGroups) {
    fprintf(stderr, "usage: beyond_memory SECONDS KEYS SEED PORT,KIND,CONNECTIONS,RATE...\n");
    return 2;
  }
  const double seconds = atof(argv[1]);
  keys = strtoull(argv[2], NULL, 10);
  random_state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < sizeof noise; i += sizeof(uint64_t)) *(uint64_t*)(void*)(noise + i) = Random();
  const int poll = epoll_create1(0);
  for (int i = 4; i < argc; ++i) {
    ParseGroup(argv[i]);
    Open(&groups[group_count - 1], poll);
  }
  begin_ns = Now();
  run_ns = seconds * 1e9;
  const uint64_t end_ns = begin_ns + (uint64_t)run_ns;
  for (int i = 0; i < connection_count; ++i) {
    if (connections[i].group->rate == 0) Send(&connections[i], Now());
  }
  const bool loads = HasLoadToDo();
  for (uint64_t now = begin_ns; loads ? HasLoadToDo() : now < end_ns; now = Now()) {
    const uint64_t next = SendDue(now);
    struct epoll_event events[64];
    const struct timespec wait = {0, next > now ? (long)(next - now) : 0};
    const int ready = epoll_pwait2(poll, events, 64, &wait, NULL);
    for (int i = 0; i < ready; ++i) Receive(events[i].data.ptr);
  }
  const double took = (double)(Now() - begin_ns) / 1e9;
  for (int i = 0; i < group_count; ++i) Print(&groups[i], took);
  return 0;
}
