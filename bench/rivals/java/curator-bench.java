import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's mutex, one for each task: threads that share one are all woken when one of them may have
 * it. Arguments: the servers, and the timeout of the session in ms.
 */
class CuratorBench extends LockBench {
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
      new CuratorBench(client).run();
    }
  }

  @Override
  Lock lock(String name) {
    InterProcessMutex mutex = new InterProcessMutex(client, "/curator/" + name);
    return new Lock() {
      @Override
      public void acquire() throws Exception {
        mutex.acquire();
      }

      @Override
      public void release() throws Exception {
        mutex.release();
      }
    };
  }
}
