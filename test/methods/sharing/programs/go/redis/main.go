// Locks of Go's libraries for Redis. Arguments: the library, the server's address, and perhaps the
// pause between two tries.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"foreign/driver"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

var retryEvery = 10 * time.Millisecond

// As redsync has it by itself.
const life = 8 * time.Second

func leaseOr(lease time.Duration) time.Duration {
	if lease == 0 {
		return life
	}
	return lease
}

type common struct{}

func (common) Ask(words []string, _ driver.Hold) (string, error) {
	return "", fmt.Errorf("no command: %s", words[0])
}

type sync2 struct {
	common
	*redsync.Redsync
}
type syncHold struct{ *redsync.Mutex }

func (sync2) Module() string { return "github.com/go-redsync/redsync/v4" }

func (s sync2) Acquire(ctx context.Context, name string, wait, lease time.Duration) (driver.Hold, error) {
	tries := int(wait/retryEvery) + 1
	mutex := s.NewMutex(name, redsync.WithExpiry(leaseOr(lease)), redsync.WithTries(tries), redsync.WithRetryDelay(retryEvery))
	if err := mutex.LockContext(ctx); err != nil {
		if _, taken := err.(*redsync.ErrTaken); taken || err == redsync.ErrFailed {
			return nil, nil
		}
		return nil, err
	}
	return syncHold{mutex}, nil
}

func (h syncHold) Release(ctx context.Context) error {
	_, err := h.UnlockContext(ctx)
	return err
}

type lock2 struct {
	common
	*redislock.Client
}
type lockHold struct{ *redislock.Lock }

func (lock2) Module() string { return "github.com/bsm/redislock" }

func (l lock2) Acquire(ctx context.Context, name string, wait, lease time.Duration) (driver.Hold, error) {
	tries := int(wait / retryEvery)
	retry := redislock.LimitRetry(redislock.LinearBackoff(retryEvery), tries)
	// Without a deadline it would give up with its lease.
	ctx, cancel := context.WithTimeout(ctx, wait+time.Second)
	defer cancel()
	lock, err := l.Obtain(ctx, name, leaseOr(lease), &redislock.Options{RetryStrategy: retry})
	if err == redislock.ErrNotObtained {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return lockHold{lock}, nil
}

func (h lockHold) Release(ctx context.Context) error { return h.Lock.Release(ctx) }

// As docs/guide/sharing-locks.md has it.
func nightly(ctx context.Context, client *redis.Client) error {
	mutex := redsync.New(goredis.NewPool(client)).NewMutex("lock:nightly")
	if err := mutex.LockContext(ctx); err != nil {
		return err
	}
	defer mutex.UnlockContext(ctx)
	return nil
}

func main() {
	if len(os.Args) > 3 {
		pause, err := time.ParseDuration(os.Args[3])
		if err != nil {
			panic(err)
		}
		retryEvery = pause
	}
	client := redis.NewClient(&redis.Options{Addr: os.Args[2]})
	if os.Args[1] == "redsync" {
		driver.Run(sync2{Redsync: redsync.New(goredis.NewPool(client))})
	} else {
		driver.Run(lock2{Client: redislock.New(client)})
	}
}
