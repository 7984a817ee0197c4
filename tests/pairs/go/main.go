// SPDX-License-Identifier: BSD-3-Clause
//
// Adds numbers to a set through go-redis's client of Sentinel and prints those that WAIT 1 acknowledged, until its
// standard input closes. Arguments: the set, the Sentinels' addresses.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

func main() {
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "pair", SentinelAddrs: os.Args[2:],
		DialTimeout: time.Second, ReadTimeout: time.Second, WriteTimeout: time.Second, MaxRetries: -1,
	})
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	for number := 1; ctx.Err() == nil; number++ {
		pipe := client.Pipeline()
		pipe.SAdd(ctx, os.Args[1], number)
		wait := pipe.Do(ctx, "WAIT", 1, 500)
		if _, err := pipe.Exec(ctx); err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if replicas, err := wait.Int(); err == nil && replicas >= 1 {
			fmt.Println(number)
		}
	}
}
