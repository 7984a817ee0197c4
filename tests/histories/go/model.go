// SPDX-License-Identifier: BSD-3-Clause
//
// What a group of three keys may reply: the sequential specification that porcupine compares histories with.
package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A step is one command on a key of a group. An operation is a list of steps that have to look like one: a command, a
// transaction or a script.
type step struct {
	verb  string // get, set, getset, cas, incr, count, push, pop, range
	value string // that is written
	old   string // that cas compares with
}

// keys is the state of a group: a string, a counter and a list, whose elements are joined by commas.
type keys struct {
	text    string
	counter int64
	list    string
}

// The reply of a missing string and of an empty list's LPOP.
const none = "(none)"

// apply returns the state after the step, and its reply as text.
func (s step) apply(state keys) (keys, string) {
	switch s.verb {
	case "get":
		return state, state.text
	case "set":
		state.text = s.value
		return state, "OK"
	case "getset":
		before := state.text
		state.text = s.value
		return state, before
	case "cas":
		if state.text != s.old {
			return state, "0"
		}
		state.text = s.value
		return state, "1"
	case "incr":
		state.counter++
		return state, strconv.FormatInt(state.counter, 10)
	case "count":
		if state.counter == 0 {
			return state, none
		}
		return state, strconv.FormatInt(state.counter, 10)
	case "push":
		if state.list != "" {
			state.list += ","
		}
		state.list += s.value
		return state, strconv.Itoa(strings.Count(state.list, ",") + 1)
	case "pop":
		if state.list == "" {
			return state, none
		}
		first, rest, _ := strings.Cut(state.list, ",")
		state.list = rest
		return state, first
	case "range":
		return state, state.list
	}
	panic("no such verb: " + s.verb)
}

// isRead tells whether no step changes anything.
func isRead(steps []step) bool {
	for _, s := range steps {
		if s.verb != "get" && s.verb != "count" && s.verb != "range" {
			return false
		}
	}
	return true
}

// model is the specification; an output of nil is unknown, and the operation may have run or not.
var model = porcupine.Model{
	Init: func() any { return keys{text: none} },
	Step: func(state, input, output any) (bool, any) {
		now := state.(keys)
		replies, _ := output.([]string)
		for i, s := range input.([]step) {
			var reply string
			now, reply = s.apply(now)
			if replies != nil && replies[i] != reply {
				return false, state
			}
		}
		return true, now
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v -> %v", input, output) },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}
