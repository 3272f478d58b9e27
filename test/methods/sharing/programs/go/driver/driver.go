// Package driver does as it is told on its standard input: see foreign-program.ts.
package driver

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
)

// Hold is a lock that is held.
type Hold interface{ Release(context.Context) error }

// Library takes locks of one kind.
type Library interface {
	// Module of which `version` tells the version.
	Module() string
	// Acquire retries for so long; nil if another holds. Without a lease, it is the library's own.
	Acquire(ctx context.Context, name string, wait, lease time.Duration) (Hold, error)
	// Ask does what this library alone knows; the hold is nil if the thread has none of that name.
	Ask(words []string, held Hold) (string, error)
}

type thread struct {
	library Library
	held    map[string]Hold
}

func (t *thread) acquire(name, wait, lease string) (bool, error) {
	ms := number(wait)
	if ms < 0 {
		ms = 3_600_000
	}
	got, err := t.library.Acquire(context.Background(), name, milliseconds(ms), milliseconds(number(lease)))
	if err != nil || got == nil {
		return false, err
	}
	t.held[name] = got
	return true, nil
}

func (t *thread) release(name string) error {
	held := t.held[name]
	delete(t.held, name)
	return held.Release(context.Background())
}

func (t *thread) count(name, file string, ms int) (int, error) {
	end := time.Now().Add(milliseconds(ms))
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
			if module.Path == t.library.Module() {
				return module.Version, nil
			}
		}
		return "", fmt.Errorf("not built with %s", t.library.Module())
	case "acquire":
		got, err := t.acquire(words[2], words[3], words[4])
		return strconv.FormatBool(got), err
	case "release":
		return "", t.release(words[2])
	case "count":
		times, err := t.count(words[2], words[3], number(words[4]))
		return strconv.Itoa(times), err
	}
	return t.library.Ask(words, t.held[words[2]])
}

func number(text string) int {
	value, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		panic(err)
	}
	return value
}

func milliseconds(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

// Run ends with the standard input.
func Run(library Library) {
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
				own := &thread{library, map[string]Hold{}}
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
