// Takes locks of Go's libraries for Redis as it is told: see foreign-program.ts. Arguments: the
// library, and the server's address.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// A lock that is held.
type hold interface{ release(context.Context) error }

type library interface {
	module() string
	// Retries for so long; nil if another holds.
	acquire(ctx context.Context, name string, wait, lease time.Duration) (hold, error)
}

const retryEvery = 10 * time.Millisecond

// Redsync has a lease of its own.
const redsyncLease = 8 * time.Second

type sync2 struct{ *redsync.Redsync }
type syncHold struct{ *redsync.Mutex }

func (sync2) module() string { return "github.com/go-redsync/redsync/v4" }

func (s sync2) acquire(ctx context.Context, name string, wait, lease time.Duration) (hold, error) {
	tries := int(wait/retryEvery) + 1
	mutex := s.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(tries), redsync.WithRetryDelay(retryEvery))
	if err := mutex.LockContext(ctx); err != nil {
		if _, taken := err.(*redsync.ErrTaken); taken || err == redsync.ErrFailed {
			return nil, nil
		}
		return nil, err
	}
	return syncHold{mutex}, nil
}

func (h syncHold) release(ctx context.Context) error {
	_, err := h.UnlockContext(ctx)
	return err
}

type lock2 struct{ *redislock.Client }
type lockHold struct{ *redislock.Lock }

func (lock2) module() string { return "github.com/bsm/redislock" }

func (l lock2) acquire(ctx context.Context, name string, wait, lease time.Duration) (hold, error) {
	tries := int(wait / retryEvery)
	retry := redislock.LimitRetry(redislock.LinearBackoff(retryEvery), tries)
	// Without a deadline it would give up with its lease.
	ctx, cancel := context.WithTimeout(ctx, wait+time.Second)
	defer cancel()
	lock, err := l.Obtain(ctx, name, lease, &redislock.Options{RetryStrategy: retry})
	if err == redislock.ErrNotObtained {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return lockHold{lock}, nil
}

func (h lockHold) release(ctx context.Context) error { return h.Release(ctx) }

type thread struct {
	library library
	held    map[string]hold
}

func (t *thread) acquire(name, wait, lease string) (bool, error) {
	ms, leaseMs := number(wait), number(lease)
	if ms < 0 {
		ms = 3_600_000
	}
	life := redsyncLease
	if leaseMs > 0 {
		life = time.Duration(leaseMs) * time.Millisecond
	}
	got, err := t.library.acquire(context.Background(), name, time.Duration(ms)*time.Millisecond, life)
	if err != nil || got == nil {
		return false, err
	}
	t.held[name] = got
	return true, nil
}

func (t *thread) release(name string) error {
	held := t.held[name]
	delete(t.held, name)
	return held.release(context.Background())
}

func (t *thread) count(name, file string, ms int) (int, error) {
	end := time.Now().Add(time.Duration(ms) * time.Millisecond)
	times := 0
	for ; time.Now().Before(end); times++ {
		if got, err := t.acquire(name, "-1", "0"); err != nil || !got {
			return times, fmt.Errorf("not acquired: %v", err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return times, err
		}
		next := strconv.Itoa(number(string(text)) + 1)
		if err := os.WriteFile(file, []byte(next), 0o644); err != nil {
			return times, err
		}
		if err := t.release(name); err != nil {
			return times, err
		}
	}
	return times, nil
}

func (t *thread) command(words []string) (string, error) {
	switch words[0] {
	case "version":
		info, _ := debug.ReadBuildInfo()
		for _, module := range info.Deps {
			if module.Path == t.library.module() {
				return module.Version, nil
			}
		}
		return "", fmt.Errorf("not built with %s", t.library.module())
	case "acquire":
		got, err := t.acquire(words[2], words[3], words[4])
		return strconv.FormatBool(got), err
	case "release":
		return "", t.release(words[2])
	case "count":
		times, err := t.count(words[2], words[3], number(words[4]))
		return strconv.Itoa(times), err
	}
	return "", fmt.Errorf("no command: %s", words[0])
}

// As docs/guide/sharing-locks.md has it.
func nightly(ctx context.Context, client *redis.Client) error {
	mutex := redsync.New(goredis.NewPool(client)).NewMutex("lock:nightly")
	if err := mutex.LockContext(ctx); err != nil {
		return err
	}
	defer mutex.UnlockContext(ctx)
	return nil
}

func number(text string) int {
	value, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	client := redis.NewClient(&redis.Options{Addr: os.Args[2]})
	var chosen library = lock2{redislock.New(client)}
	if os.Args[1] == "redsync" {
		chosen = sync2{redsync.New(goredis.NewPool(client))}
	}
	var saying sync.Mutex
	threads := map[string]chan []string{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), "\t")
		asked, there := threads[words[1]]
		if !there {
			asked = make(chan []string, 100)
			threads[words[1]] = asked
			go func() {
				own := &thread{chosen, map[string]hold{}}
				for words := range asked {
					answer, err := own.command(words[2:])
					outcome := "ok"
					if err != nil {
						outcome, answer = "failed", err.Error()
					}
					saying.Lock()
					fmt.Printf("%s\t%s\t%s\n", words[0], outcome, answer)
					saying.Unlock()
				}
			}()
		}
		asked <- words
	}
}
