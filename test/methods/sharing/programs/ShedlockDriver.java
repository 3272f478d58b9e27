import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Locks of ShedLock. Arguments: the database's or the server's URL, and lockAtMostFor in ms. Each
 * thread has a provider of its own. ShedLock does not wait, so a wait is many tries here.
 */
class ShedlockDriver extends Driver {
  private static final long PAUSE_MS = 20;

  private final String url;
  private final long atMostMs;
  private final Map<String, LockProvider> providers = new ConcurrentHashMap<>();
  private final Map<String, SimpleLock> held = new ConcurrentHashMap<>();

  private ShedlockDriver(String url, long atMostMs) {
    this.url = url;
    this.atMostMs = atMostMs;
  }

  public static void main(String[] args) throws Exception {
    new ShedlockDriver(args[0], Long.parseLong(args[1])).run();
  }

  @Override
  String version() throws Exception {
    return versionOf(LockProvider.class, "net.javacrumbs.shedlock/shedlock-core");
  }

  @Override
  boolean acquire(String kind, String name, long waitMs, long leaseMs) throws Exception {
    Duration atMost = Duration.ofMillis(leaseMs == 0 ? atMostMs : leaseMs);
    long end = System.nanoTime() + waitMs * 1_000_000;
    while (!lock(kind, name, atMost)) {
      if (waitMs >= 0 && System.nanoTime() >= end) return false;
      Thread.sleep(PAUSE_MS);
    }
    return true;
  }

  @Override
  void release(String kind, String name) {
    held.remove(key(kind, name)).unlock();
  }

  private boolean lock(String kind, String name, Duration atMost) {
    Optional<SimpleLock> lock =
        provider(kind).lock(new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO));
    lock.ifPresent(found -> held.put(key(kind, name), found));
    return lock.isPresent();
  }

  private LockProvider provider(String kind) {
    return providers.computeIfAbsent(key(kind, ""), any -> {
      if (kind.equals("redis")) return redis();
      return new JdbcTemplateLockProvider(
          JdbcTemplateLockProvider.Configuration.builder()
              .withJdbcTemplate(new JdbcTemplate(new SingleConnectionDataSource(url, true)))
              .usingDbTime()
              .build());
    });
  }

  private LockProvider redis() {
    URI server = URI.create(url);
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(server.getHost(), server.getPort());
    factory.afterPropertiesSet();
    factory.start();
    return new RedisLockProvider(factory);
  }

  private static String key(String kind, String name) {
    return Thread.currentThread().getId() + kind + name;
  }
}
