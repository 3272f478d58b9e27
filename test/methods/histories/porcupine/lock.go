package main

import (
	"fmt"
	"slices"
	"strconv"
)

// Who has how much of a lock. A mutex is a lock of one permit, a writer takes all there are.
type hold struct {
	holder         string
	permits, limit int
}

type lockState struct {
	holds []hold
	// The highest token that anybody was granted.
	token uint64
	// Holders whose holds may expire: they were called lost, or never heard that they hold.
	lapsed []string
	// Requests without an answer, each of which may be granted.
	asking []hold
}

// A lock grants as many permits as it has, each time with a token above all before, and a hold ends
// once: its holder gives it back, or it expires. An expiry is a release that never returned, called
// when the holder was last seen to hold: until then nobody may have what it holds.
//
// What is in the air happens as late as it can, as nothing is lost by that: a hold expires when
// somebody is granted what it has, and a request without an answer is granted when somebody is
// refused and there is no other reason.
var lockModel = model{
	init: lockState{},
	key:  lockKey,
	step: func(before, what, output any) []any {
		state, request := before.(lockState), what.(input)
		asked := hold{request.Holder, request.Permits, request.Limit}
		switch {
		case request.Verb == "release" && request.open:
			state.lapsed = with(state.lapsed, request.Holder)
			return []any{state}
		case request.open:
			state.asking = with(state.asking, asked)
			return []any{state}
		case request.Verb == "release":
			return release(state, request.Holder)
		case output == false:
			return refuse(state, request)
		}
		return grant(state, asked, output)
	},
}

func release(state lockState, holder string) []any {
	for i, each := range state.holds {
		if each.holder == holder {
			state.holds = without(state.holds, i)
			return []any{state}
		}
	}
	return nil
}

func refuse(state lockState, request input) []any {
	if request.Verb != "try" {
		return nil
	}
	if len(state.holds) > 0 {
		return []any{state}
	}
	var after []any
	for i, each := range state.asking {
		next := state
		next.asking = without(state.asking, i)
		if each.permits <= each.limit {
			next.holds = []hold{each}
			after = append(after, next)
		}
	}
	return after
}

func grant(state lockState, to hold, output any) []any {
	// Not all holders say which token they have.
	if text, told := output.(string); told {
		token, err := strconv.ParseUint(text, 10, 64)
		fatal(err)
		if token <= state.token {
			return nil
		}
		state.token = token
	}
	var after []any
	for _, next := range makeRoom(state, to, 0) {
		next.holds = with(next.holds, to)
		after = append(after, next)
	}
	return after
}

// All ways to let holds expire, from this one on, until there is room for another.
func makeRoom(state lockState, another hold, from int) []lockState {
	if fits(state.holds, another) {
		return []lockState{state}
	}
	if !fits(lasting(state, from), another) {
		return nil
	}
	var all []lockState
	for i := from; i < len(state.holds); i++ {
		if at := slices.Index(state.lapsed, state.holds[i].holder); at >= 0 {
			next := state
			next.holds, next.lapsed = without(state.holds, i), without(state.lapsed, at)
			all = append(all, makeRoom(next, another, i)...)
		}
	}
	return all
}

// What is left if all that may expire does, from this one on.
func lasting(state lockState, from int) []hold {
	left := state.holds[:from:from]
	for _, each := range state.holds[from:] {
		if !slices.Contains(state.lapsed, each.holder) {
			left = append(left, each)
		}
	}
	return left
}

func fits(holds []hold, another hold) bool {
	taken, limit := another.permits, another.limit
	for _, each := range holds {
		taken += each.permits
		limit = min(limit, each.limit)
	}
	return taken <= limit
}

func lockKey(of any) string {
	state := of.(lockState)
	return fmt.Sprint(state.token, sorted(state.holds), sorted(state.lapsed), sorted(state.asking))
}

func sorted[T any](all []T) []string {
	var names []string
	for _, each := range all {
		names = append(names, fmt.Sprint(each))
	}
	slices.Sort(names)
	return names
}
