import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;

/** Hazelcast's fenced lock. Arguments: the name of the cluster, and addresses of its members. */
class HazelcastBench extends LockBench {
  final HazelcastInstance client;

  HazelcastBench(HazelcastInstance client) {
    this.client = client;
  }

  public static void main(String[] args) throws Exception {
    ClientConfig config = new ClientConfig().setClusterName(args[0]);
    config.setProperty("hazelcast.logging.type", "none");
    for (int i = 1; i < args.length; i++) config.getNetworkConfig().addAddress(args[i]);
    HazelcastInstance client = HazelcastClient.newHazelcastClient(config);
    new HazelcastBench(client).run();
    client.shutdown();
  }

  @Override
  Lock lock(String name) {
    FencedLock lock = client.getCPSubsystem().getLock(name);
    return new Lock() {
      @Override
      public void acquire() {
        lock.lock();
      }

      @Override
      public void release() {
        lock.unlock();
      }
    };
  }
}
