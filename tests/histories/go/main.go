// SPDX-License-Identifier: BSD-3-Clause
//
// Concurrent clients of a server that fails, and a check that the histories of their operations are linearizable.
//
// Arguments: the number of clients, a seed, a mode, and a folder for pictures of violations. In mode plain, operations
// read or write; in modes write and wait, each one changes something, so a replica refuses it; in mode wait, each one
// ends with WAIT 1, and its outcome counts as unknown if no replica has confirmed it. Commands on the standard input:
//
//	targets HOST:PORT...   the servers that clients connect to; open connections stay
//	round                  the failures of this round are over and the target serves: read and check all groups
//
// The reply to `round` is a line "checked GROUPS OPERATIONS UNKNOWN VIOLATIONS UNDECIDED MILLISECONDS". The program
// ends when its input closes.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// targets are the addresses that clients connect to.
type targets struct {
	mutex     sync.Mutex
	addresses []string
}

func (t *targets) set(addresses []string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.addresses = addresses
}

func (t *targets) draw(rng *rand.Rand) string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.addresses[rng.Intn(len(t.addresses))]
}

// A team is all clients. They work between start and stop.
type team struct {
	clients []*client
	ended   chan struct{}
	running sync.WaitGroup
}

func (t *team) start() {
	t.ended = make(chan struct{})
	for _, one := range t.clients {
		t.running.Add(1)
		go func(c *client) {
			defer t.running.Done()
			for {
				select {
				case <-t.ended:
					return
				default:
				}
				of := c.all.draw(c.rng)
				c.perform(c.draw(of), of)
			}
		}(one)
	}
}

func (t *team) stop() {
	close(t.ended)
	t.running.Wait()
}

// finishRound reads and checks all groups.
func finishRound(t *team, all *groups) {
	t.stop()
	taken := all.takeAll()
	begin := time.Now()
	for i, one := range taken {
		t.clients[i%len(t.clients)].read(one)
	}
	operations, unclear, violations, undecided := 0, 0, 0, 0
	for _, one := range taken {
		operations += len(one.history)
		unclear += one.unknown
		switch all.check(one) {
		case porcupine.Illegal:
			violations++
		case porcupine.Unknown:
			undecided++
		}
	}
	for _, one := range t.clients {
		one.seen = make(map[*group]string)
	}
	fmt.Println("checked", len(taken), operations, unclear, violations, undecided, time.Since(begin).Milliseconds())
	t.start()
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	seed, _ := strconv.ParseInt(os.Args[2], 10, 64)
	all := newGroups(os.Args[4])
	where := &targets{}
	crew := &team{}
	for i := 0; i < count; i++ {
		crew.clients = append(crew.clients, &client{
			id: i, rng: rand.New(rand.NewSource(seed*1000 + int64(i))), targets: where, all: all,
			writes: os.Args[3] != "plain", waits: os.Args[3] == "wait", seen: make(map[*group]string),
		})
	}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := strings.Fields(input.Text())
		switch {
		case words[0] == "targets":
			where.set(words[1:])
			if crew.ended == nil {
				crew.start()
			}
		case words[0] == "round":
			finishRound(crew, all)
		}
	}
}
