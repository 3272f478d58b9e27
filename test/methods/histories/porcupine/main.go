// Porcupine's judgement of histories. It reads a line of JSON for each operation, and whenever a line
// asks to judge, it says whether what came since the last such line could have happened one operation
// at a time: legal, illegal, or unknown where the steps did not suffice. Argument: how many it may try
// for one history. It counts steps, and not time, so that every machine gives up at the same place.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"sort"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

type line struct {
	// Names a model, and with it asks for its judgement; otherwise it is an operation.
	Judge string `json:"judge"`

	Resource string   `json:"resource"`
	Call     float64  `json:"call"`
	Return   *float64 `json:"return"`
	Input    input    `json:"input"`
	Output   any      `json:"output"`
}

type input struct {
	Verb    string `json:"verb"`
	Holder  string `json:"holder"`
	Permits int    `json:"permits"`
	Limit   int    `json:"limit"`
	Token   uint64 `json:"token,string"`
	Shared  bool   `json:"shared"`

	resource string
	// It never returned. What porcupine puts in order is only that it was called: from then on it
	// is in the air, and the state knows that it may happen at any time, or never.
	open bool
}

type verdict struct {
	Verdict    string  `json:"verdict"`
	Operations int     `json:"operations"`
	Ms         float64 `json:"ms"`
}

// What may happen, in states that are never changed.
type model struct {
	init any
	// All states that this may lead to; none if it cannot happen here, or not with this output.
	step func(state, what, output any) []any
	// Equal for states that are equal.
	key func(state any) string
}

var models = map[string]model{"lock": lockModel, "counter": counterModel}

func main() {
	budget, err := strconv.ParseInt(os.Args[1], 10, 64)
	fatal(err)
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	var history []line
	for lines.Scan() {
		var next line
		fatal(json.Unmarshal(lines.Bytes(), &next))
		if next.Judge == "" {
			history = append(history, next)
			continue
		}
		of, known := models[next.Judge]
		if !known {
			fatal(fmt.Errorf("no model: %s", next.Judge))
		}
		fatal(answers.Encode(judge(of, history, budget)))
		history = nil
	}
	fatal(lines.Err())
}

func judge(of model, history []line, budget int64) verdict {
	start := time.Now()
	found := "illegal"
	var left atomic.Int64
	left.Store(budget)
	if operations, possible := operationsOf(history); possible {
		if porcupine.CheckOperations(of.within(&left), operations) {
			found = "legal"
		} else if left.Load() < 0 {
			found = "unknown"
		}
	}
	return verdict{found, len(history), float64(time.Since(start).Microseconds()) / 1000}
}

// A state with its key, which is made once: each is compared with many others.
type keyed struct {
	state any
	key   string
}

func (of model) keyed(state any) any {
	return keyed{state, of.key(state)}
}

var seed = maphash.MakeSeed()

// The model as porcupine takes it; nothing can happen any more once so many steps were tried.
func (of model) within(left *atomic.Int64) porcupine.Model {
	whole := porcupine.NondeterministicModel{
		Partition: byResource,
		Init:      func() []any { return []any{of.keyed(of.init)} },
		Step: func(before, what, output any) []any {
			if left.Add(-1) < 0 {
				return nil
			}
			var after []any
			for _, each := range of.step(before.(keyed).state, what, output) {
				after = append(after, of.keyed(each))
			}
			return after
		},
		Equal: func(one, other any) bool { return one.(keyed).key == other.(keyed).key },
		Hash:  func(state any) uint64 { return maphash.String(seed, state.(keyed).key) },
	}
	return whole.ToModel()
}

// False if something returned before it was called.
func operationsOf(history []line) ([]porcupine.Operation, bool) {
	place := places(history)
	var operations []porcupine.Operation
	for _, each := range relevant(history) {
		what := each.Input
		what.resource = each.Resource
		what.open = each.Return == nil
		returned := place[each.Call]
		if each.Return != nil {
			returned = place[*each.Return]
		}
		if returned < place[each.Call] {
			return nil, false
		}
		operations = append(operations, porcupine.Operation{
			Input: what, Call: place[each.Call],
			Output: each.Output, Return: returned,
		})
	}
	return operations, true
}

// Without requests that have no answer and can explain none: only a refused try may be due to one.
func relevant(history []line) []line {
	refused := map[string]float64{}
	for _, each := range history {
		if each.Output == false && each.Return != nil {
			refused[each.Resource] = max(refused[each.Resource], *each.Return)
		}
	}
	explains := func(each line) bool {
		late := each.Call > refused[each.Resource]
		return each.Return != nil || each.Input.Holder == "" || !late
	}
	holders := map[string]bool{}
	for _, each := range history {
		if each.Input.Verb != "release" && explains(each) {
			holders[each.Input.Holder] = true
		}
	}
	var all []line
	for _, each := range history {
		asks := each.Input.Verb != "release"
		if each.Return != nil || asks && explains(each) || !asks && holders[each.Input.Holder] {
			all = append(all, each)
		}
	}
	return all
}

// Times come as fractions of a millisecond, and only their order matters.
func places(history []line) map[float64]int64 {
	var times []float64
	for _, each := range history {
		times = append(times, each.Call)
		if each.Return != nil {
			times = append(times, *each.Return)
		}
	}
	sort.Float64s(times)
	place := map[float64]int64{}
	for _, time := range times {
		if _, known := place[time]; !known {
			place[time] = int64(len(place))
		}
	}
	return place
}

func byResource(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, each := range history {
		resource := each.Input.(input).resource
		parts[resource] = append(parts[resource], each)
	}
	var all [][]porcupine.Operation
	for _, part := range parts {
		all = append(all, part)
	}
	return all
}

// A copy, for states that others have.
func without[T any](all []T, i int) []T {
	return append(append([]T{}, all[:i]...), all[i+1:]...)
}

func with[T any](all []T, more ...T) []T {
	return append(append([]T{}, all...), more...)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
