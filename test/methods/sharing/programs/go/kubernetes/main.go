// Leader elections of client-go as locks. Arguments: the API server, a token, a file with its
// authority. Its own commands: `holds kind name`; `stop kind name`, a release without a look;
// `record kind name`, what client-go compares to see whether a lease has changed; `version-of kind
// name`, the resourceVersion.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"foreign/driver"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const namespace = "default"

// Where none is asked for.
const life = 5 * time.Second

type elections struct{ *kubernetes.Clientset }

type term struct {
	identity string
	// Of its own: to look through that of the elector would give it the version of another.
	reader  resourcelock.Interface
	leading context.Context
	cancel  context.CancelFunc
	ended   chan struct{}
}

func (elections) Module() string { return "k8s.io/client-go" }

func (e elections) lock(name, identity string) (resourcelock.Interface, error) {
	config := resourcelock.ResourceLockConfig{Identity: identity}
	return resourcelock.New(resourcelock.LeasesResourceLock, namespace, name, e.CoreV1(), e.CoordinationV1(), config)
}

// So that all requests of a test come between two renewals, if its lease is long.
func retryEvery(lease time.Duration) time.Duration {
	if lease > time.Minute {
		return lease / 20
	}
	return 100 * time.Millisecond
}

// A record has whole seconds.
func whole(lease time.Duration) time.Duration {
	if lease == 0 {
		return life
	}
	return (lease + time.Second - 1).Truncate(time.Second)
}

func (e elections) Acquire(ctx context.Context, name string, wait, lease time.Duration) (driver.Hold, error) {
	identity := "go_" + string(uuid.NewUUID())
	lock, err := e.lock(name, identity)
	if err != nil {
		return nil, err
	}
	reader, err := e.lock(name, identity)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	started := make(chan context.Context, 1)
	refused := make(chan struct{}, 100)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   whole(lease),
		RenewDeadline:   whole(lease) * 6 / 10,
		RetryPeriod:     retryEvery(lease),
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) { started <- leading },
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				if leader != identity && wait == 0 {
					refused <- struct{}{}
				}
			},
		},
	})
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		elector.Run(ctx)
		close(ended)
	}()
	// One try has no end of its own: it tells whether it leads, or who does.
	var timer <-chan time.Time
	if wait > 0 {
		timer = time.After(wait)
	}
	select {
	case leading := <-started:
		return &term{identity, reader, leading, cancel, ended}, nil
	case <-refused:
	case <-timer:
	}
	cancel()
	<-ended
	return nil, nil
}

// Looks first. Otherwise client-go, which goes by what it saw last, ends the lease of another.
func (t *term) Release(ctx context.Context) error {
	record, _, err := t.reader.Get(ctx)
	if err != nil {
		return err
	}
	if record.HolderIdentity != t.identity {
		<-t.leading.Done()
	}
	lost := t.leading.Err() != nil
	t.stop()
	if lost {
		return errors.New("it was lost")
	}
	return nil
}

func (t *term) stop() {
	t.cancel()
	<-t.ended
}

func (e elections) Ask(words []string, held driver.Hold) (string, error) {
	ctx := context.Background()
	switch words[0] {
	case "holds":
		t, _ := held.(*term)
		return strconv.FormatBool(t != nil && t.leading.Err() == nil), nil
	case "stop":
		held.(*term).stop()
		return "", nil
	case "record":
		lock, err := e.lock(words[2], "a reader")
		if err != nil {
			return "", err
		}
		_, record, err := lock.Get(ctx)
		return string(record), err
	case "version-of":
		lease, err := e.CoordinationV1().Leases(namespace).Get(ctx, words[2], metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return lease.ResourceVersion, nil
	}
	return "", fmt.Errorf("no command: %s", words[0])
}

// As docs/guide/sharing-locks.md has it.
func nightly(ctx context.Context, client *kubernetes.Clientset, pod string, buildReport func(context.Context)) error {
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "shop", "nightly",
		client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: pod})
	if err != nil {
		return err
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second,
		RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: buildReport, OnStoppedLeading: func() {},
		},
	})
	return nil
}

func main() {
	config := &rest.Config{
		Host:            os.Args[1],
		BearerToken:     os.Args[2],
		TLSClientConfig: rest.TLSClientConfig{CAFile: os.Args[3]},
		// Without a limit of its own.
		QPS: -1,
	}
	driver.Run(elections{kubernetes.NewForConfigOrDie(config)})
}
