import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;
import com.hazelcast.instance.BuildInfoProvider;

/** Fenced locks of Hazelcast. Arguments: the name of the cluster, and addresses of its members. */
class HazelcastDriver extends Driver {
  private final HazelcastInstance client;

  private HazelcastDriver(HazelcastInstance client) {
    this.client = client;
  }

  public static void main(String[] args) throws Exception {
    ClientConfig config = new ClientConfig().setClusterName(args[0]);
    config.setProperty("hazelcast.logging.type", "none");
    for (int i = 1; i < args.length; i++) config.getNetworkConfig().addAddress(args[i]);
    new HazelcastDriver(HazelcastClient.newHazelcastClient(config)).run();
  }

  @Override
  String version() {
    return BuildInfoProvider.getBuildInfo().getVersion();
  }

  @Override
  boolean acquire(String kind, String name, long waitMs, long leaseMs) {
    FencedLock lock = lock(name);
    if (waitMs >= 0) return lock.tryLock(waitMs, MILLISECONDS);
    lock.lock();
    return true;
  }

  @Override
  void release(String kind, String name) {
    lock(name).unlock();
  }

  private FencedLock lock(String name) {
    return client.getCPSubsystem().getLock(name);
  }
}
