// SPDX-License-Identifier: BSD-3-Clause
//
// The load of tests/clusters/cluster_load.py through go-redis's client of clusters.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// run runs command number i; it returns an error if the reply is not the expected one.
func run(ctx context.Context, client *redis.ClusterClient, prefix string, seed, i int, counts map[string]int64) error {
	number := (i*7919 + seed) % 500
	var key string
	var reply int64
	var err error
	switch i % 4 {
	case 0:
		key = fmt.Sprintf("%s:c:%d", prefix, number)
		reply, err = client.Incr(ctx, key).Result()
	case 1:
		key = fmt.Sprintf("%s:l:%d", prefix, number)
		reply, err = client.RPush(ctx, key, i).Result()
	case 2:
		key = fmt.Sprintf("%s:h:%d", prefix, number)
		reply, err = client.HSet(ctx, key, i, i).Result()
	default:
		key = fmt.Sprintf("%s:z:%d", prefix, number)
		reply, err = client.ZAdd(ctx, key, redis.Z{Score: float64(i), Member: i}).Result()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	expected := int64(1)
	if i%4 < 2 {
		counts[key]++
		expected = counts[key]
	}
	if reply != expected {
		return fmt.Errorf("%s: %d instead of %d", key, reply, expected)
	}
	if i%8 == 0 {
		if value, err := client.Get(ctx, key).Int64(); err != nil || value != expected {
			return fmt.Errorf("%s: %d is read instead of %d, %v", key, value, expected, err)
		}
	}
	return nil
}

func main() {
	prefix := os.Args[1]
	seed, _ := strconv.Atoi(os.Args[2])
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: os.Args[3:]})
	ctx := context.Background()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	counts := make(map[string]int64)
	longest := time.Duration(0)
	for i := 0; ; i++ {
		select {
		case <-ended:
			fmt.Println("done", i, longest.Milliseconds())
			return
		default:
		}
		begin := time.Now()
		if err := run(ctx, client, prefix, seed, i, counts); err != nil {
			fmt.Println("error", i, err)
		}
		if took := time.Since(begin); took > longest {
			longest = took
		}
		if i%100 == 0 {
			fmt.Println("at", i)
		}
	}
}
