import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Holds the mutex at a path of a server from when it says so until it is told to release it. */
class CuratorMutex {
  public static void main(String[] args) throws Exception {
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(args[0], 20_000, 20_000, new RetryOneTime(1000))) {
      client.start();
      InterProcessMutex mutex = new InterProcessMutex(client, args[1]);
      if (!mutex.acquire(20, TimeUnit.SECONDS)) throw new IllegalStateException("not acquired");
      System.out.println("held");
      new BufferedReader(new InputStreamReader(System.in)).readLine();
      mutex.release();
      System.out.println("released");
    }
  }
}
