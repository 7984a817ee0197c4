// SPDX-License-Identifier: BSD-3-Clause
//
// Groups of keys and their histories.
//
// Clients work on a few open groups. A group is sealed when its history is long enough for a check, or has as many
// operations of unknown outcome as a check can try out; a new group takes its place. At the end of a round all groups
// are read once more and checked, so each history ends with the state after the failures of its round.
package main

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	openGroups     = 4
	mostOperations = 800
	mostUnknown    = 10
	checkLimit     = time.Minute
)

// A group is one history. Its fields are guarded by the mutex of its groups.
type group struct {
	name    string
	history []porcupine.Operation
	unknown int
}

type groups struct {
	mutex  sync.Mutex
	number int
	open   []*group
	sealed []*group
	folder string // for pictures of violations
	begin  time.Time
}

func newGroups(folder string) *groups {
	all := &groups{folder: folder, begin: time.Now()}
	for len(all.open) < openGroups {
		all.open = append(all.open, all.create())
	}
	return all
}

func (all *groups) create() *group {
	all.number++
	return &group{name: fmt.Sprintf("group%d", all.number)}
}

func (all *groups) now() int64 { return int64(time.Since(all.begin)) }

// draw returns an open group.
func (all *groups) draw(rng *rand.Rand) *group {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	return all.open[rng.Intn(len(all.open))]
}

// record adds an operation; without replies its outcome is unknown, and it may run at any later time.
func (all *groups) record(of *group, client int, steps []step, call int64, replies []string) {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	operation := porcupine.Operation{ClientId: client, Input: steps, Call: call, Return: all.now()}
	if replies != nil {
		operation.Output = replies
	} else {
		operation.Return = math.MaxInt64
		of.unknown++
	}
	of.history = append(of.history, operation)
	for i, one := range all.open {
		if one == of && (len(of.history) >= mostOperations || of.unknown >= mostUnknown) {
			all.sealed = append(all.sealed, of)
			all.open[i] = all.create()
		}
	}
}

// takeAll seals all groups and returns them. REQUIRES: no client works.
func (all *groups) takeAll() []*group {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	taken := append(all.sealed, all.open...)
	all.sealed = nil
	for i := range all.open {
		all.open[i] = all.create()
	}
	return taken
}

// check checks a history and returns what was found. A violation is drawn into a file.
func (all *groups) check(one *group) porcupine.CheckResult {
	result, drawing := porcupine.CheckOperationsVerbose(model, one.history, checkLimit)
	if result == porcupine.Illegal {
		path := filepath.Join(all.folder, one.name+".html")
		fmt.Println("violation", path)
		if err := porcupine.VisualizePath(model, drawing, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return result
}
