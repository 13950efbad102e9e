-- KEYS: counter. ARGV: ttl in ms, n.
if tonumber(ARGV[2]) == 0 then
  return tonumber(redis.call('GET', KEYS[1]) or '0')
end
local used = redis.call('INCRBY', KEYS[1], ARGV[2])
if used < 0 then
  used = redis.call('INCRBY', KEYS[1], -used)
end
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return used
