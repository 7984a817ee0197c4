// SPDX-License-Identifier: BSD-3-Clause
//
// redis-rs: every family once, in RESP2 and RESP3. Arguments: host port.

use redis::{cmd, Commands, Connection, Direction, FromRedisValue, RedisResult, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

struct Smoke {
    r: Connection,
    passed: u32,
    failed: u32,
}

impl Smoke {
    /// Counts one comparison; an error differs from every expected value.
    fn check<T: PartialEq + Debug>(&mut self, name: &str, actual: RedisResult<T>, expected: T) {
        match actual {
            Ok(value) if value == expected => self.passed += 1,
            other => {
                self.failed += 1;
                println!("FAILED {name}: expected {expected:?}, got {other:?}");
            }
        }
    }

    /// Runs the words as a command and compares the reply.
    fn run<T: PartialEq + Debug + FromRedisValue>(&mut self, words: &[&str], expected: T) {
        let mut command = cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        let actual = command.query(&mut self.r);
        self.check(&words.join(" "), actual, expected);
    }

    /// Runs the words, which must be refused with an error of this code.
    fn refused(&mut self, words: &[&str], code: &str) {
        let reply: RedisResult<Value> = cmd(words[0]).arg(&words[1..]).query(&mut self.r);
        let found = reply.err().and_then(|e| e.code().map(str::to_owned));
        self.check(&words.join(" "), Ok(found), Some(code.to_owned()));
    }

    fn strings(&mut self) {
        self.run(&["SET", "s", "one", "EX", "1000"], "OK".to_owned());
        self.run(&["SET", "s", "two", "NX"], None::<String>);
        self.run(&["APPEND", "s", "!"], 4);
        self.run(&["GETRANGE", "s", "0", "2"], "one".to_owned());
        self.run(&["INCRBY", "n", "5"], 5);
        self.run(&["INCRBYFLOAT", "n", "0.5"], 5.5);
        self.run(&["MSET", "a", "1", "b", "2"], "OK".to_owned());
        self.run(&["MGET", "a", "b", "none"], vec![Some(1), Some(2), None]);
        self.run(&["GETDEL", "a"], 1);
        let raw = vec![0u8, 13, 10, 255];
        let set = self.r.set("raw", raw.clone());
        self.check("bytes", set, "OK".to_owned());
        let back = self.r.get("raw");
        self.check("bytes back", back, raw);
        self.refused(&["LPUSH", "s", "1"], "WRONGTYPE");
    }

    fn hashes(&mut self) {
        let set = self.r.hset_multiple("h", &[("f", "v"), ("n", "1")]);
        self.check("hset", set, "OK".to_owned());
        let all: BTreeMap<String, String> =
            [("f", "v"), ("n", "1")].iter().map(|(f, v)| (f.to_string(), v.to_string())).collect();
        self.run(&["HGETALL", "h"], all);
        self.run(&["HMGET", "h", "n", "none"], vec![Some(1), None]);
        self.run(&["HINCRBYFLOAT", "h", "n", "2.5"], 3.5);
        self.run(&["HKEYS", "h"], vec!["f".to_owned(), "n".to_owned()]);
        self.run(&["HDEL", "h", "f", "none"], 1);
        self.run(&["HEXISTS", "h", "f"], false);
    }

    fn sets(&mut self) {
        self.run(&["SADD", "x", "1", "2", "3"], 3);
        self.run(&["SADD", "y", "2", "3", "4"], 3);
        self.run(&["SMEMBERS", "x"], BTreeSet::from([1, 2, 3]));
        self.run(&["SINTER", "x", "y"], BTreeSet::from([2, 3]));
        self.run(&["SDIFFSTORE", "d", "x", "y"], 1);
        self.run(&["SMISMEMBER", "x", "1", "9"], vec![true, false]);
        self.run(&["SINTERCARD", "2", "x", "y", "LIMIT", "1"], 1);
        self.run(&["SMOVE", "x", "y", "1"], true);
        self.run(&["SPOP", "d"], 1);
        self.run(&["SUNION", "x", "y"], BTreeSet::from([1, 2, 3, 4]));
    }

    fn sorted_sets(&mut self) {
        let added = self.r.zadd_multiple("z", &[(1.0, "a"), (2.5, "b"), (3.0, "c")]);
        self.check("zadd", added, 3);
        self.run(&["ZRANGE", "z", "0", "-1"], vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        let range = self.r.zrange_withscores("z", 1, 2);
        self.check("zrange", range, vec![("b".to_owned(), 2.5), ("c".to_owned(), 3.0)]);
        self.run(&["ZSCORE", "z", "b"], 2.5);
        self.run(&["ZRANK", "z", "none"], None::<i64>);
        self.run(&["ZINCRBY", "z", "10", "a"], 11.0);
        self.run(&["ZUNIONSTORE", "u", "1", "z", "WEIGHTS", "2"], 3);
        let popped = self.r.zpopmax("z", 1);
        self.check("zpopmax", popped, vec![("a".to_owned(), 11.0)]);
        self.run(&["ZCOUNT", "z", "-inf", "+inf"], 2);
    }

    fn lists(&mut self) {
        self.run(&["RPUSH", "l", "1", "2", "3"], 3);
        self.run(&["LPUSH", "l", "0"], 4);
        self.run(&["LRANGE", "l", "0", "-1"], vec![0, 1, 2, 3]);
        self.run(&["LINSERT", "l", "BEFORE", "2", "9"], 5);
        self.run(&["LPOS", "l", "2"], 3);
        self.run(&["LREM", "l", "1", "9"], 1);
        let moved = self.r.lmove("l", "m", Direction::Right, Direction::Left);
        self.check("lmove", moved, 3);
        self.run(&["LTRIM", "l", "0", "1"], "OK".to_owned());
        self.run(&["RPOP", "l", "5"], vec![1, 0]);
        self.run(&["EXISTS", "l"], false);
    }

    fn keys(&mut self) {
        self.run(&["TYPE", "h"], "hash".to_owned());
        self.run(&["OBJECT", "ENCODING", "y"], "intset".to_owned());
        self.run(&["EXPIRE", "s", "100"], true);
        self.run(&["TTL", "s"], 100);
        self.run(&["PERSIST", "s"], true);
        self.run(&["RENAME", "s", "k2"], "OK".to_owned());
        self.run(&["COPY", "k2", "k3"], true);
        self.run(&["MOVE", "k3", "1"], true);
        let found = self.r.scan_match("k*").map(|keys| keys.collect::<BTreeSet<String>>());
        self.check("scan", found, BTreeSet::from(["k2".to_owned()]));
        self.run(&["DEL", "k2", "none"], 1);
        self.run(&["SELECT", "1"], "OK".to_owned());
        self.run(&["DBSIZE"], 1);
        self.run(&["FLUSHDB"], "OK".to_owned());
        self.run(&["SELECT", "0"], "OK".to_owned());
    }

    fn server(&mut self) {
        self.run(&["PING"], "PONG".to_owned());
        self.run(&["CLIENT", "SETNAME", "smoke"], "OK".to_owned());
        self.run(&["CLIENT", "GETNAME"], "smoke".to_owned());
        let limits = BTreeMap::from([("databases".to_owned(), "16".to_owned())]);
        self.run(&["CONFIG", "GET", "databases"], limits);
        let info: RedisResult<String> = cmd("INFO").arg("server").query(&mut self.r);
        self.check("info", info.map(|text| text.contains("redis_version:")), true);
        let count: RedisResult<i64> = cmd("COMMAND").arg("COUNT").query(&mut self.r);
        self.check("command", count.map(|n| n > 100), true);
        let time: RedisResult<(i64, i64)> = cmd("TIME").query(&mut self.r);
        self.check("time", time.map(|(seconds, _)| seconds > 1_600_000_000), true);
        let unknown: RedisResult<Value> = cmd("NOSUCH").query(&mut self.r);
        let text = unknown.err().map(|e| e.to_string()).unwrap_or_default();
        self.check("unknown", Ok(text.contains("unknown command 'NOSUCH'")), true);
    }

    fn pipeline(&mut self) {
        let mut pipeline = redis::pipe();
        for i in 0..1000 {
            pipeline.set(format!("p{i}"), i).ignore().get(format!("p{i}"));
        }
        let replies = pipeline.query(&mut self.r);
        self.check("pipeline", replies, (0..1000).collect::<Vec<i64>>());
    }
}

fn main() -> RedisResult<()> {
    let words: Vec<String> = std::env::args().collect();
    let (mut passed, mut failed) = (0, 0);
    for protocol in ["resp2", "resp3"] {
        let url = format!("redis://{}:{}/?protocol={protocol}", words[1], words[2]);
        let r = redis::Client::open(url)?.get_connection()?;
        let mut smoke = Smoke { r, passed: 0, failed: 0 };
        smoke.run(&["FLUSHALL"], "OK".to_owned());
        smoke.strings();
        smoke.hashes();
        smoke.sets();
        smoke.sorted_sets();
        smoke.lists();
        smoke.keys();
        smoke.server();
        smoke.pipeline();
        passed += smoke.passed;
        failed += smoke.failed;
    }
    println!("redis-rs: {passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}
