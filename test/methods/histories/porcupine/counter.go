package main

import "fmt"

type counterState struct {
	value int
	// The highest tokens that came in: of those who have it alone, and of those who share it.
	alone, shared uint64
	// Requests without an answer that may still come in.
	coming []input
}

// A counter behind a fence: who has it alone is let in with no token below any that came in before,
// who shares it with none below those who had it alone. Nobody else changes anything.
var counterModel = model{
	init: counterState{},
	key:  func(state any) string { return fmt.Sprint(state) },
	step: func(before, what, output any) []any {
		state, request := before.(counterState), what.(input)
		if request.open {
			state.coming = with(state.coming, request)
			return []any{state.settled()}
		}
		var after []any
		for _, now := range arrivals(state) {
			next, let := enter(now, request)
			if !let && output == "stale" {
				after = append(after, now)
			} else if let && (output == nil || output == float64(next.value)) {
				after = append(after, next)
			}
		}
		return after
	},
}

func enter(state counterState, request input) (counterState, bool) {
	if request.Verb == "read" {
		return state, true
	}
	if request.Token < state.least(request) {
		return state, false
	}
	if request.Shared {
		state.shared = max(state.shared, request.Token)
	} else {
		state.alone = request.Token
	}
	if request.Verb == "increment" {
		state.value++
	}
	return state.settled(), true
}

func (state counterState) least(request input) uint64 {
	if request.Shared {
		return state.alone
	}
	return max(state.alone, state.shared)
}

// Forgets what can no longer come in, or would change nothing.
func (state counterState) settled() counterState {
	var coming []input
	for _, each := range state.coming {
		idle := each.Verb == "read" || each.Shared && each.Token <= state.shared
		if !idle && each.Token >= state.least(each) {
			coming = append(coming, each)
		}
	}
	state.coming = coming
	return state
}

// The state, and all that it may become if some of what is in the air comes in.
func arrivals(state counterState) []counterState {
	all := []counterState{state}
	for i, each := range state.coming {
		rest := state
		rest.coming = without(state.coming, i)
		if next, let := enter(rest, each); let {
			all = append(all, arrivals(next)...)
		}
	}
	return all
}
