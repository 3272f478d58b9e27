import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryNTimes;

/**
 * Takes Curator's locks as it is told. Arguments: the server and the timeout of the session in ms.
 * Each line that it reads has a number, the name of a thread and the words of a command, with tabs
 * between them; that thread, which is made when it is first named, says the number, `ok` or `failed`
 * and an answer. A lock of Curator belongs to the thread that acquired it. At the end of its input
 * the program ends.
 */
class CuratorLocks {
  private final CuratorFramework client;
  private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
  private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
  private final Map<String, InterProcessReadWriteLock> books = new ConcurrentHashMap<>();
  private final Map<String, LeaderSelector> selectors = new ConcurrentHashMap<>();

  private CuratorLocks(CuratorFramework client) {
    this.client = client;
  }

  public static void main(String[] args) throws Exception {
    int timeout = Integer.parseInt(args[1]);
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(args[0], timeout, 20_000, new RetryNTimes(20, 100));
    client.start();
    CuratorLocks locks = new CuratorLocks(client);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split("\t");
      locks.thread(words[1]).execute(() -> locks.answer(words));
    }
    // Without a word to those who wait: all that it has ends with its session.
    client.close();
    System.exit(0);
  }

  private ExecutorService thread(String name) {
    return threads.computeIfAbsent(name, (any) -> Executors.newSingleThreadExecutor());
  }

  private void answer(String[] words) {
    try {
      System.out.println(words[0] + "\tok\t" + carryOut(words));
    } catch (Throwable trouble) {
      System.out.println(words[0] + "\tfailed\t" + trouble);
    }
  }

  private String carryOut(String[] words) throws Exception {
    String path = words.length > 3 ? words[3] : "";
    switch (words[2]) {
      case "mutex", "read", "write":
        return carryOut(words, lock(words[2], path));
      case "downgrade":
        lock("read", path).acquire();
        lock("write", path).release();
        return "";
      case "add":
        add(path, words[4], Integer.parseInt(words[5]));
        return "";
      case "lead":
        lead(path, words[4]);
        return "";
      case "resign":
        selectors.remove(path).close();
        return "";
      case "latch":
        new LeaderLatch(client, path, "stranger").start();
        return "";
      case "session":
        return "" + client.getZookeeperClient().getZooKeeper().getSessionId();
      default:
        throw new IllegalArgumentException("unknown command");
    }
  }

  private String carryOut(String[] words, InterProcessMutex lock) throws Exception {
    switch (words[4]) {
      case "acquire":
        return "" + lock.acquire(Integer.parseInt(words[5]), TimeUnit.MILLISECONDS);
      case "release":
        lock.release();
        return "";
      case "held":
        return "" + lock.isOwnedByCurrentThread();
      case "participants":
        return String.join("|", lock.getParticipantNodes());
      case "revocable":
        // Releases it in the thread that holds it, when it is asked to.
        lock.makeRevocable((asked) -> release(asked), thread(words[1]));
        return "";
      default:
        throw new IllegalArgumentException("unknown command");
    }
  }

  private InterProcessMutex lock(String kind, String path) {
    if (kind.equals("mutex")) {
      return mutexes.computeIfAbsent(path, (any) -> new InterProcessMutex(client, path));
    }
    InterProcessReadWriteLock both =
        books.computeIfAbsent(path, (any) -> new InterProcessReadWriteLock(client, path));
    return kind.equals("read") ? both.readLock() : both.writeLock();
  }

  /** Adds one to the number that a node has, so many times, under the mutex alone. */
  private void add(String path, String node, int times) throws Exception {
    InterProcessMutex mutex = lock("mutex", path);
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

  /** Returns when it leads; it does so until it resigns. */
  private void lead(String path, String name) throws Exception {
    CountDownLatch leads = new CountDownLatch(1);
    LeaderSelector selector =
        new LeaderSelector(
            client,
            path,
            new LeaderSelectorListenerAdapter() {
              @Override
              public void takeLeadership(CuratorFramework any) throws InterruptedException {
                leads.countDown();
                new CountDownLatch(1).await();
              }
            });
    selector.setId(name);
    selectors.put(path, selector);
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
}
