import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Tasks that want Curator's mutex: one client for the process, and for each task a thread and a
 * mutex, for threads that share one are all woken when one of them may have it. It is told what to
 * do in lines, and answers each with a line of JSON.
 *
 * <p>`pairs PATH TASKS PAIRS`: each task acquires and releases a mutex of its own, so many pairs in
 * all. `crowd PATH TASKS HOLD_MS FOR_MS`, and then `go`: all want the same mutex all the time, as
 * the tasks of measuring/member.ts do. Times are on the machine's monotonic clock, in ns.
 */
class CuratorBench {
  /** How soon a task asks again after Curator has given up. */
  static final long PAUSE_MS = 5;

  /** For everybody who still waits at the end. */
  static final long GRACE_MS = 500;

  /** Whoever still waits then has failed through no fault of its own. */
  static volatile boolean over = false;

  final CuratorFramework client;

  CuratorBench(CuratorFramework client) {
    this.client = client;
  }

  public static void main(String[] args) throws Exception {
    int sessionMs = Integer.parseInt(args[1]);
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(
            args[0], sessionMs, sessionMs, new ExponentialBackoffRetry(1000, 3))) {
      client.start();
      client.blockUntilConnected();
      CuratorBench bench = new CuratorBench(client);
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        int tasks = Integer.parseInt(words[2]);
        if (words[0].equals("pairs")) {
          System.out.println(bench.pairs(words[1], tasks, Integer.parseInt(words[3])));
          continue;
        }
        // Classes are loaded, and the connection is there, before anything counts.
        bench.pairs(words[1] + "-before", 1, 1);
        System.out.println("\"ready\"");
        lines.readLine();
        Crowd crowd = bench.new Crowd(words[1], Long.parseLong(words[3]));
        System.out.println(crowd.compete(tasks, Long.parseLong(words[4])));
      }
      over = true;
    }
  }

  String pairs(String path, int tasks, int pairs) throws Exception {
    int each = (pairs + tasks - 1) / tasks;
    double[] micros = new double[each * tasks];
    CountDownLatch begin = new CountDownLatch(1);
    Thread[] threads = new Thread[tasks];
    for (int task = 0; task < tasks; task++) {
      InterProcessMutex mutex = new InterProcessMutex(client, path + "-" + task);
      int from = task * each;
      threads[task] =
          started(
              () -> {
                begin.await();
                for (int n = from; n < from + each; n++) {
                  long before = System.nanoTime();
                  mutex.acquire();
                  mutex.release();
                  micros[n] = (System.nanoTime() - before) / 1e3;
                }
              });
    }
    long since = System.nanoTime();
    begin.countDown();
    for (Thread thread : threads) thread.join();
    double perSecond = micros.length / ((System.nanoTime() - since) / 1e9);
    return "{\"perSecond\":" + perSecond + ",\"micros\":" + Arrays.toString(micros) + "}";
  }

  class Crowd {
    final String path;
    final long holdMs;
    final List<String> turns = new ArrayList<>();
    final List<Long> waits = new ArrayList<>();
    final List<Long> late = new ArrayList<>();
    int acquisitions = 0;
    int failures = 0;
    long end;

    Crowd(String path, long holdMs) {
      this.path = path;
      this.holdMs = holdMs;
    }

    String compete(int tasks, long forMs) throws Exception {
      end = System.nanoTime() + forMs * 1_000_000;
      long[] asking = new long[tasks];
      Thread[] threads = new Thread[tasks];
      for (int task = 0; task < tasks; task++) {
        int own = task;
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        threads[task] =
            started(
                () -> {
                  while (System.nanoTime() < end) turn(mutex, asking, own);
                });
      }
      boolean stuck = false;
      for (Thread thread : threads) {
        thread.join(Math.max(1, (end - System.nanoTime()) / 1_000_000 + GRACE_MS));
        stuck |= thread.isAlive();
      }
      synchronized (this) {
        for (long since : asking) if (since > 0) late.add(System.nanoTime() - since);
        return "{\"turns\":%s,\"waits\":%s,\"late\":%s,\"acquisitions\":%d,\"failures\":%d,"
                .formatted(turns, waits, late, acquisitions, failures)
            + "\"stuck\":%b}".formatted(stuck);
      }
    }

    void turn(InterProcessMutex mutex, long[] asking, int own) throws Exception {
      long asked = System.nanoTime();
      synchronized (this) {
        asking[own] = asked;
      }
      persist(mutex);
      long granted = System.nanoTime();
      boolean counts = granted < end;
      if (counts && holdMs > 0) Thread.sleep(holdMs);
      long released = System.nanoTime();
      mutex.release();
      synchronized (this) {
        asking[own] = 0;
        acquisitions++;
        if (counts) turns.add("[%d,%d,%d]".formatted(asked, granted, released));
        (System.nanoTime() < end ? waits : late).add(granted - asked);
      }
    }

    void persist(InterProcessMutex mutex) throws InterruptedException {
      for (; ; ) {
        try {
          mutex.acquire();
          return;
        } catch (Exception gaveUp) {
          synchronized (this) {
            failures++;
          }
          Thread.sleep(PAUSE_MS);
        }
      }
    }
  }

  interface Work {
    void run() throws Exception;
  }

  /** A task that fails ends the program, and whoever waits for its answer hears of that. */
  static Thread started(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Exception error) {
                if (over) return;
                error.printStackTrace();
                System.exit(1);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
