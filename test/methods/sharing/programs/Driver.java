import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Reads commands and writes answers as foreign-program.ts has them; a library is a subclass. */
abstract class Driver {
  private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
  /** Of the thread of a command: what it is given is done there, after the command. */
  final ThreadLocal<ExecutorService> here = new ThreadLocal<>();

  abstract String version() throws Exception;

  /** As Maven has written it into the jar of the library. */
  static String versionOf(Class<?> library, String artifact) throws IOException {
    Properties properties = new Properties();
    String file = "/META-INF/maven/" + artifact + "/pom.properties";
    try (InputStream in = library.getResourceAsStream(file)) {
      properties.load(in);
    }
    return properties.getProperty("version");
  }

  /** In ms. Waiting -1 has no end, 0 tries once; lease 0 is the library's own. */
  abstract boolean acquire(String kind, String name, long waitMs, long leaseMs) throws Exception;

  abstract void release(String kind, String name) throws Exception;

  /** What only this library can do. */
  String other(String verb, String... words) throws Exception {
    throw new IllegalArgumentException("no command: " + verb);
  }

  void run() throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split("\t", -1);
      ExecutorService thread =
          threads.computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor());
      thread.execute(
          () -> {
            here.set(thread);
            answer(words[0], Arrays.copyOfRange(words, 2, words.length));
          });
    }
    // Without a word to the server: what it holds ends with its lease.
    Runtime.getRuntime().halt(0);
  }

  private void answer(String number, String... words) {
    try {
      say(number, "ok", command(words));
    } catch (Throwable error) {
      say(number, "failed", error.toString().replaceAll("\\s", " "));
    }
  }

  private static void say(String... words) {
    synchronized (System.out) {
      System.out.println(String.join("\t", words));
      System.out.flush();
    }
  }

  private String command(String... words) throws Exception {
    switch (words[0]) {
      case "version":
        return version();
      case "acquire":
        long lease = Long.parseLong(words[4]);
        return "" + acquire(words[1], words[2], Long.parseLong(words[3]), lease);
      case "release":
        release(words[1], words[2]);
        return "";
      case "count":
        return "" + count(words[1], words[2], Path.of(words[3]), Long.parseLong(words[4]));
      default:
        return other(words[0], Arrays.copyOfRange(words, 1, words.length));
    }
  }

  private int count(String kind, String name, Path file, long ms) throws Exception {
    int times = 0;
    for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; times++) {
      if (!acquire(kind, name, -1, 0)) throw new IllegalStateException("not acquired");
      long number = Long.parseLong(Files.readString(file).trim());
      Files.writeString(file, "" + (number + 1));
      release(kind, name);
    }
    return times;
  }
}
