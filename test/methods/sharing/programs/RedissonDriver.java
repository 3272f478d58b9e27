import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.LongCodec;
import org.redisson.config.Config;

/** Locks of Redisson. Arguments: the server's URL, its watchdog's time in ms, and `cluster`. */
class RedissonDriver extends Driver {
  private final RedissonClient client;
  /** The permits of each thread, by name. */
  private final Map<String, String> permits = new ConcurrentHashMap<>();

  private RedissonDriver(RedissonClient client) {
    this.client = client;
  }

  public static void main(String[] args) throws Exception {
    Config config = new Config();
    config.setLockWatchdogTimeout(Long.parseLong(args[1]));
    if (args.length > 2) {
      config.useClusterServers().addNodeAddress(args[0]);
    } else {
      config.useSingleServer().setAddress(args[0]).setConnectionMinimumIdleSize(1)
          .setConnectionPoolSize(8);
    }
    config.setThreads(2).setNettyThreads(2);
    new RedissonDriver(Redisson.create(config)).run();
  }

  @Override
  String version() throws Exception {
    return versionOf(Redisson.class, "org.redisson/redisson");
  }

  @Override
  boolean acquire(String kind, String name, long waitMs, long leaseMs) throws Exception {
    if (kind.equals("permit")) {
      RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
      String id =
          waitMs < 0
              ? semaphore.acquire(leaseMs, MILLISECONDS)
              : semaphore.tryAcquire(waitMs, leaseMs, MILLISECONDS);
      if (id != null) permits.put(key(name), id);
      return id != null;
    }
    RLock lock = lock(kind, name);
    long lease = leaseMs == 0 ? -1 : leaseMs;
    if (waitMs >= 0) return lock.tryLock(waitMs, lease, MILLISECONDS);
    lock.lockInterruptibly(lease, MILLISECONDS);
    return true;
  }

  @Override
  void release(String kind, String name) throws Exception {
    if (kind.equals("permit")) {
      client.getPermitExpirableSemaphore(name).release(permits.remove(key(name)));
    } else {
      lock(kind, name).unlock();
    }
  }

  @Override
  String other(String verb, String... words) throws Exception {
    switch (verb) {
      case "holds":
        return "" + lock(words[0], words[1]).isHeldByCurrentThread();
      case "token":
        return "" + client.getFencedLock(words[0]).getToken();
      case "hold-count":
        return "" + lock(words[0], words[1]).getHoldCount();
      case "set-permits":
        int number = Integer.parseInt(words[1]);
        return "" + client.getPermitExpirableSemaphore(words[0]).trySetPermits(number);
      case "available":
        return "" + client.getPermitExpirableSemaphore(words[0]).availablePermits();
      case "hear":
        hear(words[0], Long.parseLong(words[1]));
        return "";
      default:
        return super.other(verb, words);
    }
  }

  /** Returns once this message has come: Redisson has seen to those that came before it. */
  private void hear(String channel, long expected) throws InterruptedException {
    CountDownLatch heard = new CountDownLatch(1);
    client.getTopic(channel, LongCodec.INSTANCE).addListener(Long.class, (name, message) -> {
      if (message == expected) heard.countDown();
    });
    heard.await();
  }

  private RLock lock(String kind, String name) {
    switch (kind) {
      case "mutex":
        return client.getLock(name);
      case "fenced":
        return client.getFencedLock(name);
      case "fair":
        return client.getFairLock(name);
      case "read":
        return client.getReadWriteLock(name).readLock();
      case "write":
        return client.getReadWriteLock(name).writeLock();
      default:
        throw new IllegalArgumentException("no lock: " + kind);
    }
  }

  private static String key(String name) {
    return Thread.currentThread().getId() + name;
  }
}
