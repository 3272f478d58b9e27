/* Preloaded into a server: adds to its wall clock the microseconds that the file named by
 * HOLDFAST_CLOCK holds. Its monotonic clock stays as it is. No headers: a machine without a
 * compiler gets one, but not those. It asks the kernel and not the C library, which would need
 * memory to find the original functions, while the allocator that gives memory asks for the time. */

typedef struct { long seconds, nanoseconds; } timespec;
typedef struct { long seconds, microseconds; } timeval;

extern char *getenv(const char *name);
extern int open(const char *path, int flags, ...);
extern void *mmap(void *at, unsigned long size, int protection, int flags, int file, long offset);
extern long syscall(long number, ...);
extern void abort(void);

#if defined(__x86_64__)
#define SYS_CLOCK_GETTIME 228
#elif defined(__aarch64__)
#define SYS_CLOCK_GETTIME 113
#endif

enum { REALTIME = 0, REALTIME_COARSE = 5, O_RDONLY = 0, PROT_READ = 1, MAP_SHARED = 1 };

static long offset(void) {
  static volatile long *mapped;
  if (!mapped) {
    const char *path = getenv("HOLDFAST_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) abort();
    mapped = mmap(0, sizeof *mapped, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == (void *)-1) abort();
  }
  return *mapped;
}

int clock_gettime(int clock, timespec *now) {
  if (syscall(SYS_CLOCK_GETTIME, clock, now) != 0) return -1;
  if (clock == REALTIME || clock == REALTIME_COARSE) {
    long us = now->seconds * 1000000 + now->nanoseconds / 1000 + offset();
    now->nanoseconds = us % 1000000 * 1000 + now->nanoseconds % 1000;
    now->seconds = us / 1000000;
  }
  return 0;
}

int gettimeofday(timeval *now, void *zone) {
  timespec exact;
  if (clock_gettime(REALTIME, &exact) != 0) return -1;
  now->seconds = exact.seconds;
  now->microseconds = exact.nanoseconds / 1000;
  return 0;
}

long time(long *seconds) {
  timespec exact;
  clock_gettime(REALTIME, &exact);
  if (seconds) *seconds = exact.seconds;
  return exact.seconds;
}
