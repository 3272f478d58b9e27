import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Tasks that want a lock of a library: one client for the process, and a thread for each task. It is
 * told what to do in lines, and answers each with a line of JSON.
 *
 * <p>`pairs NAME TASKS PAIRS`: each task acquires and releases a lock of its own, so many pairs in
 * all. `crowd NAME TASKS HOLD_MS PAUSE_MS FOR_MS`, and then `go`: all want the same lock all the time,
 * as the tasks of measuring/member.ts do; with a pause of -1 they ask again at once. Times are on the
 * machine's monotonic clock, in ns.
 */
abstract class LockBench {
  /** How soon a task asks again after the library has given up. */
  static final long PAUSE_MS = 5;

  /** For everybody who still waits at the end. */
  static final long GRACE_MS = 500;

  /** Whoever still waits then has failed through no fault of its own. */
  static volatile boolean over = false;

  interface Lock {
    void acquire() throws Exception;

    void release() throws Exception;
  }

  /** Of that name, for one task. */
  abstract Lock lock(String name) throws Exception;

  /** Until there are no more lines. */
  void run() throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      int tasks = Integer.parseInt(words[2]);
      if (words[0].equals("pairs")) {
        System.out.println(pairs(words[1], tasks, Integer.parseInt(words[3])));
        continue;
      }
      // Classes are loaded, and the connection is there, before anything counts.
      pairs(words[1] + "-before", 1, 1);
      System.out.println("\"ready\"");
      lines.readLine();
      Crowd crowd = new Crowd(words[1], Long.parseLong(words[3]), Long.parseLong(words[4]));
      System.out.println(crowd.compete(tasks, Long.parseLong(words[5])));
    }
    over = true;
  }

  String pairs(String name, int tasks, int pairs) throws Exception {
    int each = (pairs + tasks - 1) / tasks;
    double[] micros = new double[each * tasks];
    CountDownLatch begin = new CountDownLatch(1);
    Thread[] threads = new Thread[tasks];
    for (int task = 0; task < tasks; task++) {
      Lock lock = lock(name + "-" + task);
      int from = task * each;
      threads[task] =
          started(
              () -> {
                begin.await();
                for (int n = from; n < from + each; n++) {
                  long before = System.nanoTime();
                  lock.acquire();
                  lock.release();
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
    final String name;
    final long holdMs;
    final long pauseMs;
    final List<String> turns = new ArrayList<>();
    final List<Long> waits = new ArrayList<>();
    final List<Long> late = new ArrayList<>();
    int acquisitions = 0;
    int failures = 0;
    long end;

    Crowd(String name, long holdMs, long pauseMs) {
      this.name = name;
      this.holdMs = holdMs;
      this.pauseMs = pauseMs;
    }

    String compete(int tasks, long forMs) throws Exception {
      end = System.nanoTime() + forMs * 1_000_000;
      long[] asking = new long[tasks];
      Thread[] threads = new Thread[tasks];
      for (int task = 0; task < tasks; task++) {
        int own = task;
        Lock lock = lock(name);
        threads[task] =
            started(
                () -> {
                  while (System.nanoTime() < end) {
                    if (pauseMs >= 0) Thread.sleep(pauseMs);
                    turn(lock, asking, own);
                  }
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

    void turn(Lock lock, long[] asking, int own) throws Exception {
      long asked = System.nanoTime();
      synchronized (this) {
        asking[own] = asked;
      }
      persist(lock);
      long granted = System.nanoTime();
      boolean counts = granted < end;
      if (counts && holdMs > 0) Thread.sleep(holdMs);
      long released = System.nanoTime();
      lock.release();
      synchronized (this) {
        asking[own] = 0;
        acquisitions++;
        if (counts) turns.add("[%d,%d,%d]".formatted(asked, granted, released));
        (System.nanoTime() < end ? waits : late).add(granted - asked);
      }
    }

    void persist(Lock lock) throws InterruptedException {
      for (; ; ) {
        try {
          lock.acquire();
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
