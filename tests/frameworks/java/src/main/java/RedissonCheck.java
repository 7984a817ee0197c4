// SPDX-License-Identifier: BSD-3-Clause
//
// Redisson: locks, semaphores, maps whose entries expire, queues, topics. Arguments: host port.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.CompositeCodec;
import org.redisson.config.Config;

public class RedissonCheck {
  private static int passed;
  private static int failed;

  interface Part {
    void run(RedissonClient client) throws Exception;
  }

  static synchronized void check(String name, Object actual, Object expected) {
    if (String.valueOf(actual).equals(String.valueOf(expected))) {
      passed++;
    } else {
      failed++;
      System.out.println("FAILED " + name + ": expected " + expected + ", got " + actual);
    }
  }

  static void guarded(String name, Part part, RedissonClient client) {
    try {
      part.run(client);
    } catch (Exception error) {
      check(name, error, "no error");
    }
  }

  // Runs the part in this many threads at once and waits for all.
  static void together(int threads, RedissonClient client, Part part) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      all.add(pool.submit(() -> {
        part.run(client);
        return null;
      }));
    }
    for (Future<?> one : all) one.get(60, TimeUnit.SECONDS);
    pool.shutdown();
  }

  // A lock has one owner, who may take it again; it is released after its lease, and others can wait for it.
  static void locks(RedissonClient client) throws Exception {
    RBucket<String> counter = client.getBucket("counter", StringCodec.INSTANCE);
    counter.set("0");
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    together(8, client, c -> {
      for (int i = 0; i < 15; i++) {
        RLock lock = c.getLock("lock");
        lock.lock(10, TimeUnit.SECONDS);
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        counter.set(String.valueOf(Integer.parseInt(counter.get()) + 1));
        inside.decrementAndGet();
        lock.unlock();
      }
    });
    check("lock: one at a time", most.get(), 1);
    check("lock: counter", counter.get(), 120);
    RLock lock = client.getLock("again");
    lock.lock();
    lock.lock();
    check("lock: holds", lock.getHoldCount(), 2);
    lock.unlock();
    check("lock: still taken", lock.isLocked(), true);
    lock.unlock();
    check("lock: free", lock.isLocked(), false);
    lock.lock(300, TimeUnit.MILLISECONDS);
    AtomicInteger got = new AtomicInteger();
    together(1, client, c -> got.set(c.getLock("again").tryLock(5, 5, TimeUnit.SECONDS) ? 1 : 0));
    check("lock: after its lease", got.get(), 1);
    RReadWriteLock both = client.getReadWriteLock("both");
    both.readLock().lock();
    AtomicInteger reads = new AtomicInteger();
    together(1, client, c -> {
      RReadWriteLock same = c.getReadWriteLock("both");
      reads.set((same.readLock().tryLock() ? 1 : 0) + (same.writeLock().tryLock() ? 10 : 0));
    });
    check("lock: readers together, no writer", reads.get(), 1);
    RLock fair = client.getFairLock("fair");
    together(4, client, c -> {
      c.getFairLock("fair").lock(5, TimeUnit.SECONDS);
      c.getFairLock("fair").unlock();
    });
    check("lock: fair", fair.isLocked(), false);
  }

  // A semaphore admits no more than its permits.
  static void semaphores(RedissonClient client) throws Exception {
    client.getSemaphore("permits").trySetPermits(3);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    together(8, client, c -> {
      for (int i = 0; i < 10; i++) {
        c.getSemaphore("permits").acquire();
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        Thread.sleep(1);
        inside.decrementAndGet();
        c.getSemaphore("permits").release();
      }
    });
    check("semaphore: at most three", most.get() <= 3 && most.get() > 0, true);
    check("semaphore: all back", client.getSemaphore("permits").availablePermits(), 3);
    RCountDownLatch latch = client.getCountDownLatch("latch");
    latch.trySetCount(3);
    together(3, client, c -> c.getCountDownLatch("latch").countDown());
    check("latch", latch.await(5, TimeUnit.SECONDS), true);
    RRateLimiter limiter = client.getRateLimiter("rate");
    limiter.trySetRate(RateType.OVERALL, 2, 60, RateIntervalUnit.SECONDS);
    check("rate", limiter.tryAcquire() + " " + limiter.tryAcquire() + " " + limiter.tryAcquire(), "true true false");
  }

  // Map entries with their own expiry, kept by scripts in several keys.
  static void maps(RedissonClient client) throws Exception {
    RMapCache<String, String> map = client.getMapCache("map");
    map.put("stays", "1");
    map.put("ends", "2", 300, TimeUnit.MILLISECONDS);
    map.put("idle", "3", 0, TimeUnit.SECONDS, 300, TimeUnit.MILLISECONDS);
    check("map: size", map.size(), 3);
    check("map: putIfAbsent", map.putIfAbsent("stays", "x"), "1");
    check("map: replace", map.replace("stays", "1", "one"), true);
    Thread.sleep(500);
    check("map: after the time", map.get("ends") + " " + map.get("idle") + " " + map.get("stays"), "null null one");
    RMap<String, Long> plain = client.getMap("plain", new CompositeCodec(StringCodec.INSTANCE, LongCodec.INSTANCE));
    for (long i = 0; i < 500; i++) plain.fastPut("k" + i, i);
    long sum = 0;
    for (long value : plain.values()) sum += value;
    check("map: values", sum, 124750);
    int seen = 0;
    for (String key : plain.keySet(50)) seen += key.startsWith("k") ? 1 : 0;
    check("map: iterated", seen, 500);
    check("map: add", plain.addAndGet("k1", 41L), 42);
    RBucket<String> bucket = client.getBucket("bucket");
    bucket.set("v", java.time.Duration.ofMillis(200));
    Thread.sleep(300);
    check("bucket", bucket.get(), null);
  }

  // Blocking and delayed queues, sorted sets, topics, filters, transactions, batches.
  static void others(RedissonClient client) throws Exception {
    RBlockingQueue<String> queue = client.getBlockingQueue("queue");
    RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
    delayed.offer("late", 300, TimeUnit.MILLISECONDS);
    queue.offer("soon");
    check("queue", queue.poll(5, TimeUnit.SECONDS) + " " + queue.poll(5, TimeUnit.SECONDS), "soon late");
    delayed.destroy();
    CountDownLatch heard = new CountDownLatch(3);
    RTopic topic = client.getTopic("topic");
    topic.addListener(String.class, (channel, message) -> heard.countDown());
    for (int i = 0; i < 3; i++) topic.publish("m" + i);
    check("topic", heard.await(5, TimeUnit.SECONDS), true);
    RScoredSortedSet<String> scores = client.getScoredSortedSet("scores", StringCodec.INSTANCE);
    for (int i = 0; i < 100; i++) scores.add(i % 10, "m" + i);
    check("scores", scores.rank("m9") + " " + scores.count(3, true, 5, true) + " " + scores.first(), "98 30 m0");
    RBloomFilter<String> filter = client.getBloomFilter("filter");
    filter.tryInit(1000, 0.01);
    filter.add("in");
    check("filter", filter.contains("in") + " " + filter.contains("out"), "true false");
    BatchOptions atomic = BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC);
    RBatch batch = client.createBatch(atomic);
    for (int i = 0; i < 50; i++) batch.getAtomicLong("atomic").incrementAndGetAsync();
    check("batch", batch.execute().getResponses().get(49), 50);
    RTransaction transaction = client.createTransaction(TransactionOptions.defaults());
    transaction.getMap("map of transactions").put("k0", 7);
    transaction.commit();
    check("transaction", client.getMap("map of transactions").get("k0"), 7);
    check("script", client.getScript(StringCodec.INSTANCE).eval(RScript.Mode.READ_WRITE,
        "return redis.call('incr', KEYS[1])", RScript.ReturnType.INTEGER, List.of("atomic")), 51);
    RStream<String, String> stream = client.getStream("stream", StringCodec.INSTANCE);
    for (int i = 0; i < 5; i++) stream.add(org.redisson.api.stream.StreamAddArgs.entry("n", "" + i));
    check("stream", stream.size(), 5);
  }

  public static void main(String[] args) {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://" + args[0] + ":" + args[1]).setConnectionMinimumIdleSize(4);
    RedissonClient client = Redisson.create(config);
    guarded("locks", RedissonCheck::locks, client);
    guarded("semaphores", RedissonCheck::semaphores, client);
    guarded("maps", RedissonCheck::maps, client);
    guarded("others", RedissonCheck::others, client);
    System.out.println("Redisson: " + passed + " passed, " + failed + " failed");
    client.shutdown(0, 2, TimeUnit.SECONDS);
    System.exit(failed == 0 ? 0 : 1);
  }
}
