// SPDX-License-Identifier: BSD-3-Clause
//
// Jedis: every family once, in RESP2 and RESP3. Arguments: host port.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.args.ListDirection;
import redis.clients.jedis.args.ListPosition;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.ZParams;
import redis.clients.jedis.params.ZRangeParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.resps.Tuple;

public class Smoke {
  private static int passed = 0;
  private static int failed = 0;

  /** Counts one comparison. */
  private static void check(String name, Object actual, Object expected) {
    if (Objects.equals(actual, expected)) {
      passed++;
    } else {
      failed++;
      System.out.println("FAILED " + name + ": expected " + expected + ", got " + actual);
    }
  }

  private static Set<String> set(String... members) {
    return new HashSet<>(Arrays.asList(members));
  }

  /** The text of the error that the call must raise. */
  private static String errorOf(Runnable call) {
    try {
      call.run();
      return "no error";
    } catch (JedisDataException error) {
      return error.getMessage();
    }
  }

  private static void checkStrings(Jedis r) {
    check("set", r.set("s", "one", SetParams.setParams().ex(1000)), "OK");
    check("set nx", r.set("s", "two", SetParams.setParams().nx()), null);
    check("append", r.append("s", "!"), 4L);
    check("getrange", r.getrange("s", 0, 2), "one");
    check("setrange", r.setrange("s", 3, "?"), 4L);
    check("incrBy", r.incrBy("n", 5), 5L);
    check("incrByFloat", r.incrByFloat("n", 0.5), 5.5);
    check("mset", r.mset("a", "1", "b", "2"), "OK");
    check("mget", r.mget("a", "b", "none"), Arrays.asList("1", "2", null));
    check("getDel", r.getDel("a"), "1");
    check("missing", r.get("a"), null);
    byte[] raw = {0, 13, 10, -1};
    check("bytes", r.set("raw".getBytes(), raw), "OK");
    check("bytes back", Arrays.equals(r.get("raw".getBytes()), raw), true);
    check("wrong type", errorOf(() -> r.lpush("s", "1")).startsWith("WRONGTYPE"), true);
  }

  private static void checkHashes(Jedis r) {
    check("hset", r.hset("h", Map.of("f", "v", "n", "1")), 2L);
    check("hget", r.hget("h", "f"), "v");
    check("hgetAll", r.hgetAll("h"), Map.of("f", "v", "n", "1"));
    check("hmget", r.hmget("h", "n", "none"), Arrays.asList("1", null));
    check("hincrByFloat", r.hincrByFloat("h", "n", 2.5), 3.5);
    check("hkeys", r.hkeys("h"), set("f", "n"));
    check("hrandfield", r.hrandfieldWithValues("h", 2).size(), 2);
    check("hscan", r.hscan("h", ScanParams.SCAN_POINTER_START).getResult().size(), 2);
    check("hdel", r.hdel("h", "f", "none"), 1L);
    check("hexists", r.hexists("h", "f"), false);
  }

  private static void checkSets(Jedis r) {
    check("sadd", r.sadd("x", "1", "2", "3") + r.sadd("y", "2", "3", "4"), 6L);
    check("smembers", r.smembers("x"), set("1", "2", "3"));
    check("sinter", r.sinter("x", "y"), set("2", "3"));
    check("sdiffstore", r.sdiffstore("d", "x", "y"), 1L);
    check("smismember", r.smismember("x", "1", "9"), List.of(true, false));
    check("sintercard", r.sintercard(1, "x", "y"), 1L);
    check("smove", r.smove("x", "y", "1"), 1L);
    check("spop", r.spop("d"), "1");
    check("sunion", r.sunion("x", "y"), set("1", "2", "3", "4"));
  }

  private static void checkSortedSets(Jedis r) {
    check("zadd", r.zadd("z", Map.of("a", 1.0, "b", 2.5, "c", 3.0)), 3L);
    check("zrange", r.zrange("z", 0, -1), List.of("a", "b", "c"));
    check("zrange with scores", r.zrangeWithScores("z", 1, 1), List.of(new Tuple("b", 2.5)));
    check("zrange by score", r.zrange("z", ZRangeParams.zrangeByScoreParams(3, 2).rev()),
        List.of("c", "b"));
    check("zscore", r.zscore("z", "b"), 2.5);
    check("zmscore", r.zmscore("z", "c", "none"), Arrays.asList(3.0, null));
    check("zrank", r.zrank("z", "c"), 2L);
    check("zrank of none", r.zrank("z", "none"), null);
    check("zincrby", r.zincrby("z", 10, "a"), 11.0);
    check("zunionstore", r.zunionstore("u", new ZParams().weights(2), "z"), 3L);
    check("zpopmax", r.zpopmax("z"), new Tuple("a", 11.0));
    check("zcount", r.zcount("z", "-inf", "+inf"), 2L);
    check("zremrangeByScore", r.zremrangeByScore("z", "(2.5", "3"), 1L);
  }

  private static void checkLists(Jedis r) {
    check("push", r.rpush("l", "a", "b", "c") + r.lpush("l", "z"), 7L);
    check("lrange", r.lrange("l", 0, -1), List.of("z", "a", "b", "c"));
    check("linsert", r.linsert("l", ListPosition.BEFORE, "b", "n"), 5L);
    check("lpos", r.lpos("l", "b"), 3L);
    check("lindex", r.lindex("l", -1), "c");
    check("lrem", r.lrem("l", 1, "n"), 1L);
    check("lmove", r.lmove("l", "m", ListDirection.RIGHT, ListDirection.LEFT), "c");
    check("ltrim", r.ltrim("l", 0, 1), "OK");
    check("rpop", r.rpop("l", 5), List.of("a", "z"));
    check("empty list is no key", r.exists("l"), false);
    check("lmpop", r.lmpop(ListDirection.LEFT, "l", "m").getValue(), List.of("c"));
  }

  private static void checkKeys(Jedis r) {
    check("type", r.type("h"), "hash");
    check("encoding", r.objectEncoding("y"), "intset");
    check("expire", r.expire("s", 100), 1L);
    check("ttl", r.ttl("s"), 100L);
    check("persist", r.persist("s"), 1L);
    check("rename", r.rename("s", "k2"), "OK");
    check("copy", r.copy("k2", "k3", false), true);
    check("move", r.move("k3", 1), 1L);
    Set<String> found = new TreeSet<>();
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> page = r.scan(cursor, new ScanParams().match("k*"));
      found.addAll(page.getResult());
      cursor = page.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    check("scan", found, set("k2"));
    check("del", r.del("k2", "none"), 1L);
    check("select", r.select(1), "OK");
    check("other database", r.dbSize(), 1L);
    check("select back", r.flushDB() + r.select(0), "OKOK");
  }

  private static void checkServer(Jedis r) {
    check("ping", r.ping() + r.echo("x"), "PONGx");
    check("client", r.clientSetname("smoke") + r.clientGetname(), "OKsmoke");
    check("client id", r.clientId() > 0, true);
    check("config", r.configGet("databases"), Map.of("databases", "16"));
    check("info", r.info("server").contains("redis_version:"), true);
    check("command", r.commandCount() > 100, true);
    check("time", Long.parseLong(r.time().get(0)) > 1600000000L, true);
    check("unknown", errorOf(() -> r.sendCommand(() -> "NOSUCH".getBytes()))
        .startsWith("ERR unknown command 'NOSUCH'"), true);
  }

  private static void checkPipeline(Jedis r) {
    Pipeline pipeline = r.pipelined();
    List<Response<String>> replies = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      pipeline.set("p" + i, "" + i);
      replies.add(pipeline.get("p" + i));
      expected.add("" + i);
    }
    pipeline.sync();
    List<String> actual = new ArrayList<>();
    replies.forEach(reply -> actual.add(reply.get()));
    check("pipeline", actual, expected);
  }

  public static void main(String[] arguments) {
    HostAndPort address = new HostAndPort(arguments[0], Integer.parseInt(arguments[1]));
    for (RedisProtocol protocol : List.of(RedisProtocol.RESP2, RedisProtocol.RESP3)) {
      try (Jedis r = new Jedis(address,
          DefaultJedisClientConfig.builder().protocol(protocol).build())) {
        check("flushall", r.flushAll(), "OK");
        checkStrings(r);
        checkHashes(r);
        checkSets(r);
        checkSortedSets(r);
        checkLists(r);
        checkKeys(r);
        checkServer(r);
        checkPipeline(r);
      }
    }
    System.out.println("Jedis: " + passed + " passed, " + failed + " failed");
    System.exit(failed > 0 ? 1 : 0);
  }
}
