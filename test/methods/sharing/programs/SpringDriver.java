import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import javax.sql.DataSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Locks of Spring Integration. Arguments: the database's or the server's URL, and the time after
 * which a lock ends, in ms. Each thread has a registry of its own, as if it were a process.
 */
class SpringDriver extends Driver {
  private final String url;
  private final int ttlMs;
  private final Map<String, LockRegistry> registries = new ConcurrentHashMap<>();

  private SpringDriver(String url, int ttlMs) {
    this.url = url;
    this.ttlMs = ttlMs;
  }

  public static void main(String[] args) throws Exception {
    new SpringDriver(args[0], Integer.parseInt(args[1])).run();
  }

  @Override
  String version() {
    return JdbcLockRegistry.class.getPackage().getImplementationVersion();
  }

  @Override
  boolean acquire(String kind, String name, long waitMs, long leaseMs) throws Exception {
    Lock lock = lock(kind, name);
    if (waitMs == 0) return lock.tryLock();
    if (waitMs > 0) return lock.tryLock(waitMs, MILLISECONDS);
    lock.lockInterruptibly();
    return true;
  }

  @Override
  void release(String kind, String name) {
    lock(kind, name).unlock();
  }

  private Lock lock(String kind, String name) {
    return registry(kind).obtain(name);
  }

  private LockRegistry registry(String kind) {
    String key = Thread.currentThread().getId() + kind;
    return registries.computeIfAbsent(key, any -> kind.equals("jdbc") ? jdbc() : redis(kind));
  }

  private LockRegistry jdbc() {
    try {
      DataSource source = new SingleConnectionDataSource(url, true);
      DefaultLockRepository repository = new DefaultLockRepository(source);
      repository.setTransactionManager(new DataSourceTransactionManager(source));
      repository.afterPropertiesSet();
      repository.afterSingletonsInstantiated();
      return registry(repository);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  /** From 7 on it is the registry that is told when a lock ends. */
  private JdbcLockRegistry registry(DefaultLockRepository repository)
      throws ReflectiveOperationException {
    try {
      DefaultLockRepository.class.getMethod("setTimeToLive", int.class).invoke(repository, ttlMs);
      return new JdbcLockRegistry(repository);
    } catch (NoSuchMethodException later) {
      return (JdbcLockRegistry)
          JdbcLockRegistry.class.getConstructors()[constructorWithDuration()]
              .newInstance(repository, Duration.ofMillis(ttlMs));
    }
  }

  private static int constructorWithDuration() {
    return JdbcLockRegistry.class.getConstructors()[0].getParameterCount() == 2 ? 0 : 1;
  }

  private LockRegistry redis(String kind) {
    URI server = URI.create(url);
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(server.getHost(), server.getPort());
    factory.afterPropertiesSet();
    factory.start();
    RedisLockRegistry registry = new RedisLockRegistry(factory, "locks", ttlMs);
    if (kind.equals("pub-sub")) registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
    return registry;
  }
}
