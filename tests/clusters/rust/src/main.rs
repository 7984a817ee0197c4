// SPDX-License-Identifier: BSD-3-Clause
//
//! The load of tests/clusters/cluster_load.py through redis-rs's client of clusters.

use redis::cluster::{ClusterClient, ClusterConnection};
use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// Runs command number i; the error tells what is wrong with its reply.
fn run(
    connection: &mut ClusterConnection,
    prefix: &str,
    seed: u64,
    i: u64,
    counts: &mut HashMap<String, i64>,
) -> Result<(), String> {
    let kind = ["c", "l", "h", "z"][(i % 4) as usize];
    let key = format!("{}:{}:{}", prefix, kind, (i * 7919 + seed) % 500);
    let mut command = match kind {
        "c" => redis::cmd("INCR"),
        "l" => redis::cmd("RPUSH"),
        "h" => redis::cmd("HSET"),
        _ => redis::cmd("ZADD"),
    };
    command.arg(&key);
    match kind {
        "c" => {}
        "l" => {
            command.arg(i);
        }
        _ => {
            command.arg(i).arg(i);
        }
    }
    let reply: i64 = command.query(connection).map_err(|error| format!("{key}: {error}"))?;
    let mut expected = 1;
    if i % 4 < 2 {
        let count = counts.entry(key.clone()).or_insert(0);
        *count += 1;
        expected = *count;
    }
    if reply != expected {
        return Err(format!("{key}: {reply} instead of {expected}"));
    }
    if i % 8 == 0 {
        let value: i64 = redis::cmd("GET").arg(&key).query(connection).map_err(|error| format!("{key}: {error}"))?;
        if value != expected {
            return Err(format!("{key}: {value} is read instead of {expected}"));
        }
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let seed: u64 = arguments[2].parse().expect("a seed");
    let nodes: Vec<String> = arguments[3..].iter().map(|address| format!("redis://{address}")).collect();
    let client = ClusterClient::new(nodes).expect("addresses");
    let mut connection = client.get_connection().expect("a connection");
    let ended = Arc::new(AtomicBool::new(false));
    let flag = ended.clone();
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        flag.store(true, Ordering::SeqCst);
    });
    let mut counts = HashMap::new();
    let (mut longest, mut i) = (0, 0);
    while !ended.load(Ordering::SeqCst) {
        let begin = Instant::now();
        if let Err(wrong) = run(&mut connection, &arguments[1], seed, i, &mut counts) {
            println!("error {i} {wrong}");
        }
        longest = longest.max(begin.elapsed().as_millis());
        if i % 100 == 0 {
            println!("at {i}");
        }
        i += 1;
    }
    println!("done {i} {longest}");
}
