import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryNTimes;

/**
 * Locks of Curator. Arguments: the server, the timeout of the session in ms, and what stands before
 * all names. A lock belongs to the thread that acquired it. Kinds: `mutex`, `read`, `write`,
 * `latch`, and `permit`, of a semaphore with one, or with as many as it ends with, as in `permit3`.
 */
class CuratorDriver extends Driver {
  private static final int FOR_EVER_MS = 600_000;
  /** A latch looks at the server when it has been started: a try waits for that. */
  private static final int LOOK_MS = 500;

  private final CuratorFramework client;
  private final String root;
  private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
  private final Map<String, InterProcessReadWriteLock> books = new ConcurrentHashMap<>();
  private final Map<String, LeaderSelector> selectors = new ConcurrentHashMap<>();
  /** Of each thread. */
  private final Map<String, LeaderLatch> latches = new ConcurrentHashMap<>();
  private final Map<String, Lease> leases = new ConcurrentHashMap<>();

  private CuratorDriver(CuratorFramework client, String root) {
    this.client = client;
    this.root = root;
  }

  public static void main(String[] args) throws Exception {
    int timeout = Integer.parseInt(args[1]);
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(args[0], timeout, 20_000, new RetryNTimes(20, 100));
    client.start();
    client.blockUntilConnected();
    new CuratorDriver(client, args[2]).run();
  }

  @Override
  String version() {
    // The name of its jar ends in it, or is a link to one that does.
    try {
      String jar = LeaderLatch.class.getProtectionDomain().getCodeSource().getLocation().getPath();
      String real = java.nio.file.Path.of(jar).toRealPath().toString();
      return real.replaceAll(".*curator-recipes-(.*)\\.jar", "$1");
    } catch (java.io.IOException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  @Override
  boolean acquire(String kind, String name, long waitMs, long leaseMs) throws Exception {
    long wait = waitMs < 0 ? FOR_EVER_MS : waitMs;
    if (kind.equals("latch")) return lead(name, Math.max(wait, LOOK_MS));
    if (!kind.startsWith("permit")) return lock(kind, name).acquire(wait, MILLISECONDS);
    int limit = kind.equals("permit") ? 1 : Integer.parseInt(kind.substring("permit".length()));
    Lease lease =
        new InterProcessSemaphoreV2(client, root + name, limit).acquire(wait, MILLISECONDS);
    if (lease != null) leases.put(mine(name), lease);
    return lease != null;
  }

  @Override
  void release(String kind, String name) throws Exception {
    if (kind.equals("latch")) latches.remove(mine(name)).close();
    else if (kind.startsWith("permit")) leases.remove(mine(name)).close();
    else lock(kind, name).release();
  }

  @Override
  String other(String verb, String... words) throws Exception {
    switch (verb) {
      case "held":
        return "" + lock(words[0], words[1]).isOwnedByCurrentThread();
      case "participants":
        return String.join("|", lock(words[0], words[1]).getParticipantNodes());
      case "revocable":
        // It is released in the thread that holds it, when that is asked for.
        lock(words[0], words[1]).makeRevocable(CuratorDriver::release, here.get());
        return "";
      case "downgrade":
        lock("read", words[0]).acquire();
        lock("write", words[0]).release();
        return "";
      case "add":
        add(words[0], words[1], Integer.parseInt(words[2]));
        return "";
      case "select":
        select(words[0], words[1]);
        return "";
      case "resign":
        selectors.remove(words[0]).close();
        return "";
      case "leads":
        return "" + latches.get(mine(words[0])).hasLeadership();
      case "leader":
        return new LeaderLatch(client, root + words[0]).getLeader().getId();
      default:
        return super.other(verb, words);
    }
  }

  private boolean lead(String name, long waitMs) throws Exception {
    LeaderLatch latch = new LeaderLatch(client, root + name, "java");
    latch.start();
    boolean leads = latch.await(waitMs, MILLISECONDS);
    if (leads) latches.put(mine(name), latch);
    else latch.close();
    return leads;
  }

  private InterProcessMutex lock(String kind, String name) {
    String path = root + name;
    if (kind.equals("mutex")) {
      return mutexes.computeIfAbsent(path, any -> new InterProcessMutex(client, path));
    }
    InterProcessReadWriteLock both =
        books.computeIfAbsent(path, any -> new InterProcessReadWriteLock(client, path));
    return kind.equals("read") ? both.readLock() : both.writeLock();
  }

  /** Adds one to the number that a node has, so many times, under the mutex alone. */
  private void add(String name, String node, int times) throws Exception {
    InterProcessMutex mutex = lock("mutex", name);
    for (int time = 0; time < times; time++) {
      mutex.acquire();
      try {
        int before = Integer.parseInt(new String(client.getData().forPath(node)));
        client.setData().forPath(node, Integer.toString(before + 1).getBytes());
      } finally {
        mutex.release();
      }
    }
  }

  /** Returns when a `LeaderSelector` leads; it does so until it resigns. */
  private void select(String name, String id) throws Exception {
    CountDownLatch leads = new CountDownLatch(1);
    LeaderSelector selector =
        new LeaderSelector(
            client,
            root + name,
            new LeaderSelectorListenerAdapter() {
              @Override
              public void takeLeadership(CuratorFramework any) throws InterruptedException {
                leads.countDown();
                new CountDownLatch(1).await();
              }
            });
    selector.setId(id);
    selectors.put(name, selector);
    selector.start();
    leads.await();
  }

  private static void release(InterProcessMutex lock) {
    try {
      lock.release();
    } catch (Exception trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  private static String mine(String name) {
    return Thread.currentThread().getId() + name;
  }
}
