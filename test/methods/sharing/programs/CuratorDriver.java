import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

/**
 * Mutexes and leader latches of Curator. Arguments: the server, the timeout of the session in ms,
 * and the path of all names.
 */
class CuratorDriver extends Driver {
  private static final int FOR_EVER_MS = 600_000;
  private final CuratorFramework client;
  private final String root;
  private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
  private final Map<String, LeaderLatch> latches = new ConcurrentHashMap<>();

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
    // The name of its jar ends in it.
    String jar = LeaderLatch.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*curator-recipes-(.*)\\.jar", "$1");
  }

  @Override
  boolean acquire(String kind, String name, long waitMs, long leaseMs) throws Exception {
    long wait = waitMs < 0 ? FOR_EVER_MS : waitMs;
    if (kind.equals("mutex")) return mutex(name).acquire(wait, MILLISECONDS);
    LeaderLatch latch = new LeaderLatch(client, root + "/" + name, "java");
    latch.start();
    boolean leads = latch.await(wait, MILLISECONDS);
    if (leads) latches.put(key(name), latch);
    else latch.close();
    return leads;
  }

  @Override
  void release(String kind, String name) throws Exception {
    if (kind.equals("mutex")) mutex(name).release();
    else latches.remove(key(name)).close();
  }

  @Override
  String other(String verb, String... words) throws Exception {
    switch (verb) {
      case "leads":
        return "" + latches.get(key(words[0])).hasLeadership();
      case "leader":
        LeaderLatch look = new LeaderLatch(client, root + "/" + words[0]);
        return look.getLeader().getId();
      default:
        return super.other(verb, words);
    }
  }

  private InterProcessMutex mutex(String name) {
    String path = root + "/" + name;
    return mutexes.computeIfAbsent(path, any -> new InterProcessMutex(client, path));
  }

  private static String key(String name) {
    return Thread.currentThread().getId() + name;
  }
}
