// SPDX-License-Identifier: BSD-3-Clause
//
// A client: it draws operations, runs them, and records their replies.
package main

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"time"
)

const (
	dialLimit  = 300 * time.Millisecond
	replyLimit = 2 * time.Second
	waitMs     = "300"
	pause      = 10 * time.Millisecond // after a refusal
)

// A script that has to look like one command: it compares and sets the string, and counts.
const casScript = `
local done = 0
if (redis.call('GET', KEYS[1]) or '(none)') == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2])
  done = 1
end
return {done, redis.call('INCR', KEYS[2])}`

type client struct {
	id         int
	rng        *rand.Rand
	targets    *targets
	all        *groups
	writes     bool // each operation changes something
	waits      bool // each operation ends with WAIT 1, and is known only if a replica confirms it
	connection *connection
	written    int
	seen       map[*group]string // the string that it saw last, for cas
}

// A plan is how an operation is sent.
type plan struct {
	steps   []step
	exec    bool // in MULTI and EXEC
	watched bool // with WATCH: the first step is the GET before MULTI
	script  bool
}

func (c *client) value() string {
	c.written++
	return fmt.Sprintf("%d.%d", c.id, c.written)
}

// drawStep draws a command. With `writes` it surely changes something.
func (c *client) drawStep(writes bool) step {
	verbs := []string{"set", "getset", "incr", "push", "get", "count", "pop", "pop", "range"}
	if writes {
		verbs = verbs[:4]
	}
	return step{verb: verbs[c.rng.Intn(len(verbs))], value: c.value()}
}

func (c *client) draw(of *group) plan {
	switch kind := c.rng.Intn(10); {
	case kind < 5:
		return plan{steps: []step{c.drawStep(c.writes)}}
	case kind < 8:
		steps := []step{c.drawStep(c.writes)}
		for more := 1 + c.rng.Intn(3); more > 0; more-- {
			steps = append(steps, c.drawStep(false))
		}
		c.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		return plan{steps: steps, exec: true}
	case kind < 9:
		steps := []step{{verb: "get"}, {verb: "set", value: c.value()}, {verb: "incr"}}
		return plan{steps: steps, exec: true, watched: true}
	default:
		old, known := c.seen[of]
		if !known {
			old = none
		}
		return plan{steps: []step{{verb: "cas", value: c.value(), old: old}, {verb: "incr"}}, script: true}
	}
}

// words is the command of a step.
func (s step) words(name string) []string {
	text, counter, list := name+":text", name+":counter", name+":list"
	switch s.verb {
	case "get":
		return []string{"GET", text}
	case "set":
		return []string{"SET", text, s.value}
	case "getset":
		return []string{"SET", text, s.value, "GET"}
	case "incr":
		return []string{"INCR", counter}
	case "count":
		return []string{"GET", counter}
	case "push":
		return []string{"RPUSH", list, s.value}
	case "pop":
		return []string{"LPOP", list}
	}
	return []string{"LRANGE", list, "0", "-1"}
}

// commands are those of the plan, after WATCH and GET if it watches.
func (p plan) commands(name string) [][]string {
	if p.script {
		return [][]string{{"EVAL", casScript, "2", name + ":text", name + ":counter", p.steps[0].old, p.steps[0].value}}
	}
	var found [][]string
	steps := p.steps
	if p.watched {
		steps = steps[1:]
	}
	for _, s := range steps {
		found = append(found, s.words(name))
	}
	if p.exec {
		found = append(append([][]string{{"MULTI"}}, found...), []string{"EXEC"})
	}
	return found
}

// texts are the replies in the form of the model.
func texts(replies []any) []string {
	found := make([]string, len(replies))
	for i, reply := range replies {
		switch value := reply.(type) {
		case nil:
			found[i] = none
		case string:
			found[i] = value
		case int64:
			found[i] = strconv.FormatInt(value, 10)
		case []any:
			found[i] = strings.Join(texts(value), ",")
		}
	}
	return found
}

// outcome is what is known of an operation.
type outcome int

const (
	happened   outcome = iota
	refused            // it has not run and will not
	conflicted         // the same, because a watched key was changed
	unknown
)

// run sends the plan; the replies are those of its steps if it happened.
func (c *client) run(p plan, name string) (outcome, []string) {
	var seen []string
	if p.watched {
		replies, err := c.connection.call([]string{"WATCH", name + ":text"}, p.steps[0].words(name))
		if err != nil {
			return refused, nil // only a read was sent
		}
		if _, isError := replies[1].(serverError); isError {
			return refused, nil
		}
		seen = texts(replies[1:])
	}
	commands := p.commands(name)
	if c.waits {
		commands = append(commands, []string{"WAIT", "1", waitMs})
	}
	replies, err := c.connection.call(commands...)
	if err != nil {
		return unknown, nil
	}
	confirmed := true
	if c.waits {
		number, isNumber := replies[len(replies)-1].(int64)
		confirmed = isNumber && number >= 1
		replies = replies[:len(replies)-1]
	}
	last := replies[len(replies)-1]
	if _, isError := last.(serverError); isError {
		return refused, nil
	}
	if p.exec && last == nil {
		return conflicted, nil
	}
	if !confirmed {
		return unknown, nil
	}
	if p.exec || p.script {
		replies = last.([]any)
	}
	return happened, append(seen, texts(replies)...)
}

// perform runs a plan on a group and records it; it returns whether it happened.
func (c *client) perform(p plan, of *group) bool {
	if c.connection == nil {
		var err error
		if c.connection, err = dial(c.targets.draw(c.rng)); err != nil {
			c.connection = nil
			time.Sleep(pause)
			return false
		}
	}
	call := c.all.now()
	result, replies := c.run(p, of.name)
	if result == happened {
		c.all.record(of, c.id, p.steps, call, replies)
		for i, s := range p.steps {
			if s.verb == "get" {
				c.seen[of] = replies[i]
			}
		}
		return true
	}
	if result == unknown && !isRead(p.steps) {
		c.all.record(of, c.id, p.steps, call, nil)
	}
	if result != conflicted {
		c.connection.close()
		c.connection = nil
		time.Sleep(pause)
	}
	return false
}

// read records a last read of the group; with `waits` it writes too, so a replica can confirm it.
func (c *client) read(of *group) {
	steps := []step{{verb: "get"}, {verb: "count"}, {verb: "range"}, {verb: "incr"}}
	for !c.perform(plan{steps: steps, exec: true}, of) {
		continue
	}
}
