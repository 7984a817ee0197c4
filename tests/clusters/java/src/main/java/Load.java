// SPDX-License-Identifier: BSD-3-Clause

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;

/** The load of tests/clusters/cluster_load.py through Jedis's client of clusters. */
public final class Load {
  private final JedisCluster client;
  private final String prefix;
  private final long seed;
  private final Map<String, Long> counts = new HashMap<>();
  private volatile boolean ended;

  private Load(String prefix, long seed, Set<HostAndPort> nodes) {
    this.prefix = prefix;
    this.seed = seed;
    client = new JedisCluster(nodes);
  }

  /** Runs command number i; returns what is wrong with its reply, or null. */
  private String run(int i) {
    String key = prefix + ":" + "clhz".charAt(i % 4) + ":" + (i * 7919L + seed) % 500;
    String text = Integer.toString(i);
    long reply;
    if (i % 4 == 0) {
      reply = client.incr(key);
    } else if (i % 4 == 1) {
      reply = client.rpush(key, text);
    } else if (i % 4 == 2) {
      reply = client.hset(key, text, text);
    } else {
      reply = client.zadd(key, i, text);
    }
    long expected = i % 4 < 2 ? counts.merge(key, 1L, Long::sum) : 1;
    if (reply != expected) {
      return key + ": " + reply + " instead of " + expected;
    }
    if (i % 8 == 0 && Long.parseLong(client.get(key)) != expected) {
      return key + ": not " + expected + " is read";
    }
    return null;
  }

  private void awaitEnd() {
    try {
      while (System.in.read() >= 0) {
        continue;
      }
    } catch (java.io.IOException closed) {
      // the end too
    }
    ended = true;
  }

  private void runAll() {
    Thread waiter = new Thread(this::awaitEnd);
    waiter.setDaemon(true);
    waiter.start();
    long longest = 0;
    int i = 0;
    for (; !ended; i++) {
      long begin = System.nanoTime();
      String wrong;
      try {
        wrong = run(i);
      } catch (RuntimeException error) {
        wrong = error.toString();
      }
      longest = Math.max(longest, System.nanoTime() - begin);
      if (wrong != null) {
        System.out.println("error " + i + " " + wrong);
      }
      if (i % 100 == 0) {
        System.out.println("at " + i);
      }
    }
    System.out.println("done " + i + " " + longest / 1000000);
  }

  public static void main(String[] arguments) {
    Set<HostAndPort> nodes = new HashSet<>();
    for (int i = 2; i < arguments.length; i++) {
      nodes.add(HostAndPort.from(arguments[i]));
    }
    new Load(arguments[0], Long.parseLong(arguments[1]), nodes).runAll();
  }
}
