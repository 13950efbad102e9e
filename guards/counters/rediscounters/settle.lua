-- KEYS: list of calls, hash of results by id. ARGV: ttl in ms, id, result.
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
  if redis.call('PTTL', KEYS[2]) < 0 then
    redis.call('PEXPIRE', KEYS[2], ARGV[1])
  end
end
return 1
