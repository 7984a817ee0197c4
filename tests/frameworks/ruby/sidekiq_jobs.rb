# SPDX-License-Identifier: BSD-3-Clause
#
# Sidekiq: jobs now, later, in bulk, retried, dead, deleted. Arguments: host port.
#
# `sidekiq -r` loads the same file for the jobs; REDIS_URL then has the server's address.
require "json"
require "sidekiq"
require "sidekiq/api"

LIMIT_S = 60
Redis.silence_deprecations = true # of redis-rb, about calls that Sidekiq makes

# Adds its number to a sum, and itself to the set of completed jobs.
class Add
  include Sidekiq::Worker

  def perform(number)
    Sidekiq.redis do |redis|
      redis.multi do |transaction|
        transaction.incrby("sum", number)
        transaction.sadd("ran", jid)
      end
    end
  end
end

# Fails for the first time.
class FailOnce
  include Sidekiq::Worker
  sidekiq_options retry: 3
  sidekiq_retry_in { 1 }

  def perform
    raise "the first time" if Sidekiq.redis { |redis| redis.incr("attempts") } == 1
  end
end

# Always fails.
class Fail
  include Sidekiq::Worker
  sidekiq_options retry: 0

  def perform
    raise "no"
  end
end

# Records its start time.
class Note
  include Sidekiq::Worker

  def perform
    Sidekiq.redis { |redis| redis.set("noted", Time.now.to_f.to_s) }
  end
end

# Compares and counts.
class Checks
  def initialize
    @passed = @failed = 0
  end

  def check(name, actual, expected)
    return @passed += 1 if actual == expected

    @failed += 1
    puts "FAILED #{name}: expected #{expected.inspect}, got #{actual.inspect}"
  end

  def wait
    deadline = Time.now + LIMIT_S
    sleep 0.05 until yield || Time.now > deadline
  end

  def get(key)
    Sidekiq.redis { |redis| redis.get(key) }
  end

  # A hundred jobs one by one and a hundred in bulk.
  def many
    100.times { |number| Add.perform_async(number) }
    Sidekiq::Client.push_bulk("class" => "Add", "args" => (0...100).map { |number| [number] })
    wait { Sidekiq.redis { |redis| redis.scard("ran") } == 200 }
    check "sum", get("sum"), "9900"
    check "queue", Sidekiq::Queue.new.size, 0
    wait { Sidekiq::Stats.new.processed >= 200 }
    check "processed", Sidekiq::Stats.new.processed, 200
  end

  # A delayed job, and one that is deleted before its time.
  def later
    earliest = Time.now.to_f + 1
    Note.perform_in(1)
    taken_back = Add.perform_in(3600, 1_000_000)
    check "scheduled", Sidekiq::ScheduledSet.new.size, 2
    check "taken back", Sidekiq::ScheduledSet.new.find_job(taken_back).delete, true
    wait { get("noted") }
    check "not before its time", get("noted").to_f >= earliest - 0.01, true
    check "none left", Sidekiq::ScheduledSet.new.size, 0
  end

  # A failure that is retried, and one that ends among the dead jobs.
  def failures
    FailOnce.perform_async
    Fail.perform_async
    wait { get("attempts") == "2" }
    check "tried again", get("attempts"), "2"
    wait { Sidekiq::RetrySet.new.size.zero? && Sidekiq::Stats.new.failed == 2 }
    check "failed", Sidekiq::Stats.new.failed, 2
    check "retries", Sidekiq::RetrySet.new.size, 0
  end

  # The data that the process publishes about itself.
  def processes
    check "processes", Sidekiq::ProcessSet.new.map { |process| process["concurrency"] }, [4]
  end

  def run
    %i[many later failures processes].each do |part|
      send(part)
    rescue StandardError => error
      @failed += 1
      puts "FAILED #{part}: #{error.full_message(highlight: false)}"
    end
    puts "Sidekiq: #{@passed} passed, #{@failed} failed"
    @failed.zero?
  end
end

if $PROGRAM_NAME == __FILE__
  ENV["REDIS_URL"] = "redis://#{ARGV[0]}:#{ARGV[1]}/0"
  worker = spawn("sidekiq", "-r", "./sidekiq_jobs.rb", "-C", "./sidekiq.yml", out: "worker.log", err: "worker.log")
  begin
    passed = Checks.new.run
    puts File.read("worker.log")[-3000..] unless passed
  ensure
    Process.kill("TERM", worker)
    Process.wait(worker)
  end
  exit passed
end
