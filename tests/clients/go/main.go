// SPDX-License-Identifier: BSD-3-Clause
//
// go-redis: every family once, in RESP2 and RESP3. Arguments: host port.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	ctx    = context.Background()
	passed int
	failed int
)

// check counts one comparison.
func check(name string, actual, expected any) {
	if reflect.DeepEqual(actual, expected) {
		passed++
		return
	}
	failed++
	fmt.Printf("FAILED %s: expected %#v, got %#v\n", name, expected, actual)
}

// text returns the text of the error; without an error it returns "no error".
func text(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

func sorted(values []string) []string {
	sort.Strings(values)
	return values
}

func checkStrings(r *redis.Client) {
	check("set", r.Set(ctx, "s", "one", 1000*time.Second).Val(), "OK")
	check("set nx", r.SetNX(ctx, "s", "two", 0).Val(), false)
	check("append", r.Append(ctx, "s", "!").Val(), int64(4))
	check("getrange", r.GetRange(ctx, "s", 0, 2).Val(), "one")
	check("incrby", r.IncrBy(ctx, "n", 5).Val(), int64(5))
	check("incrbyfloat", r.IncrByFloat(ctx, "n", 0.5).Val(), 5.5)
	check("mset", r.MSet(ctx, "a", 1, "b", 2).Val(), "OK")
	check("mget", r.MGet(ctx, "a", "b", "none").Val(), []any{"1", "2", nil})
	check("getex", r.GetEx(ctx, "a", 100*time.Second).Val(), "1")
	check("ttl", r.TTL(ctx, "a").Val(), 100*time.Second)
	check("getdel", r.GetDel(ctx, "a").Val(), "1")
	check("missing", text(r.Get(ctx, "a").Err()), "redis: nil")
	check("bytes", r.Set(ctx, "raw", "\x00\r\n\xff", 0).Val()+r.Get(ctx, "raw").Val(), "OK\x00\r\n\xff")
	check("wrong type", strings.HasPrefix(text(r.LPush(ctx, "s", 1).Err()), "WRONGTYPE"), true)
}

func checkHashes(r *redis.Client) {
	check("hset", r.HSet(ctx, "h", "f", "v", "n", 1).Val(), int64(2))
	check("hget", r.HGet(ctx, "h", "f").Val(), "v")
	check("hgetall", r.HGetAll(ctx, "h").Val(), map[string]string{"f": "v", "n": "1"})
	check("hmget", r.HMGet(ctx, "h", "n", "none").Val(), []any{"1", nil})
	check("hincrbyfloat", r.HIncrByFloat(ctx, "h", "n", 2.5).Val(), 3.5)
	check("hkeys", r.HKeys(ctx, "h").Val(), []string{"f", "n"})
	check("hrandfield", len(r.HRandFieldWithValues(ctx, "h", 2).Val()), 2)
	check("hdel", r.HDel(ctx, "h", "f", "none").Val(), int64(1))
	check("hexists", r.HExists(ctx, "h", "f").Val(), false)
}

func checkSets(r *redis.Client) {
	check("sadd", r.SAdd(ctx, "x", 1, 2, 3).Val()+r.SAdd(ctx, "y", 2, 3, 4).Val(), int64(6))
	check("smembers", r.SMembers(ctx, "x").Val(), []string{"1", "2", "3"})
	check("sinter", sorted(r.SInter(ctx, "x", "y").Val()), []string{"2", "3"})
	check("sdiffstore", r.SDiffStore(ctx, "d", "x", "y").Val(), int64(1))
	check("smismember", r.SMIsMember(ctx, "x", 1, 9).Val(), []bool{true, false})
	check("sintercard", r.SInterCard(ctx, 1, "x", "y").Val(), int64(1))
	check("smove", r.SMove(ctx, "x", "y", 1).Val(), true)
	check("spop", r.SPop(ctx, "d").Val(), "1")
	check("sunion", sorted(r.SUnion(ctx, "x", "y").Val()), []string{"1", "2", "3", "4"})
}

func checkSortedSets(r *redis.Client) {
	check("zadd", r.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2.5, Member: "b"},
		redis.Z{Score: 3, Member: "c"}).Val(), int64(3))
	check("zrange", r.ZRangeWithScores(ctx, "z", 1, -1).Val(),
		[]redis.Z{{Score: 2.5, Member: "b"}, {Score: 3, Member: "c"}})
	check("zrange by score", r.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "z", Start: "(1", Stop: "+inf",
		ByScore: true, Count: 1}).Val(), []string{"b"})
	check("zscore", r.ZScore(ctx, "z", "b").Val(), 2.5)
	check("zrank", r.ZRank(ctx, "z", "c").Val(), int64(2))
	check("zrank of none", text(r.ZRank(ctx, "z", "none").Err()), "redis: nil")
	check("zincrby", r.ZIncrBy(ctx, "z", 10, "a").Val(), 11.0)
	check("zunion", r.ZUnion(ctx, redis.ZStore{Keys: []string{"z"}, Weights: []float64{2}}).Val(),
		[]string{"b", "c", "a"})
	check("zpopmax", r.ZPopMax(ctx, "z").Val(), []redis.Z{{Score: 11, Member: "a"}})
	check("zcount", r.ZCount(ctx, "z", "-inf", "+inf").Val(), int64(2))
	check("zremrangebyrank", r.ZRemRangeByRank(ctx, "z", 0, 0).Val(), int64(1))
}

func checkLists(r *redis.Client) {
	check("push", r.RPush(ctx, "l", "a", "b", "c").Val()+r.LPush(ctx, "l", "z").Val(), int64(7))
	check("lrange", r.LRange(ctx, "l", 0, -1).Val(), []string{"z", "a", "b", "c"})
	check("linsert", r.LInsertBefore(ctx, "l", "b", "n").Val(), int64(5))
	check("lpos", r.LPos(ctx, "l", "b", redis.LPosArgs{}).Val(), int64(3))
	check("lset", r.LSet(ctx, "l", 0, "y").Val(), "OK")
	check("lmove", r.LMove(ctx, "l", "m", "RIGHT", "LEFT").Val(), "c")
	check("ltrim", r.LTrim(ctx, "l", 0, 1).Val(), "OK")
	check("rpop", r.RPopCount(ctx, "l", 5).Val(), []string{"a", "y"})
	check("empty list is no key", r.Exists(ctx, "l").Val(), int64(0))
	key, values, err := r.LMPop(ctx, "left", 2, "l", "m").Result()
	check("lmpop", fmt.Sprint(key, values, err), "m[c] <nil>")
}

func checkKeys(r *redis.Client) {
	check("type", r.Type(ctx, "h").Val(), "hash")
	check("encoding", r.ObjectEncoding(ctx, "y").Val(), "intset")
	check("expire", r.Expire(ctx, "s", 100*time.Second).Val(), true)
	check("ttl", r.TTL(ctx, "s").Val(), 100*time.Second)
	check("persist", r.Persist(ctx, "s").Val(), true)
	check("rename", r.Rename(ctx, "s", "k2").Val(), "OK")
	check("copy", r.Copy(ctx, "k2", "k3", 0, false).Val(), int64(1))
	check("move", r.Move(ctx, "k3", 1).Val(), true)
	var found []string
	for it := r.Scan(ctx, 0, "k*", 10).Iterator(); it.Next(ctx); {
		found = append(found, it.Val())
	}
	check("scan", found, []string{"k2"})
	check("del", r.Del(ctx, "k2", "none").Val(), int64(1))
}

func checkServer(r *redis.Client) {
	check("ping", r.Ping(ctx).Val()+r.Echo(ctx, "x").Val(), "PONGx")
	check("client id", r.ClientID(ctx).Val() > 0, true)
	check("config", r.ConfigGet(ctx, "databases").Val(), map[string]string{"databases": "16"})
	check("info", strings.Contains(r.Info(ctx, "server").Val(), "redis_version:"), true)
	commands := r.Command(ctx).Val()
	check("command", commands["get"] != nil && commands["get"].Arity == 2, true)
	check("time", r.Time(ctx).Val().Unix() > 1600000000, true)
	check("dbsize", r.DBSize(ctx).Val() > 0, true)
	check("slowlog", r.SlowLogGet(ctx, 5).Err(), nil)
	check("unknown", strings.HasPrefix(text(r.Do(ctx, "NOSUCH").Err()), "ERR unknown command 'NOSUCH'"), true)
}

func checkPipeline(r *redis.Client) {
	pipeline := r.Pipeline()
	for i := 0; i < 1000; i++ {
		pipeline.Set(ctx, fmt.Sprint("p", i), i, 0)
		pipeline.Get(ctx, fmt.Sprint("p", i))
	}
	replies, err := pipeline.Exec(ctx)
	check("pipeline error", err, nil)
	for i := 0; i < 1000; i++ {
		if value := replies[2*i+1].(*redis.StringCmd).Val(); value != fmt.Sprint(i) {
			check("pipeline", value, fmt.Sprint(i))
			return
		}
	}
	check("pipeline", len(replies), 2000)
}

func main() {
	for _, protocol := range []int{2, 3} {
		r := redis.NewClient(&redis.Options{
			Addr: os.Args[1] + ":" + os.Args[2], Protocol: protocol, MaxRetries: -1})
		check("flushall", r.FlushAll(ctx).Val(), "OK")
		for _, checks := range []func(*redis.Client){checkStrings, checkHashes, checkSets,
			checkSortedSets, checkLists, checkKeys, checkServer, checkPipeline} {
			checks(r)
		}
		r.Close()
	}
	fmt.Printf("go-redis: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
