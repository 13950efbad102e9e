-- KEYS: list of "id\ncall", hash of results by id. ARGV: ttl in ms, id, call, result, keep.
redis.call('RPUSH', KEYS[1], ARGV[2] .. '\n' .. ARGV[3])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
end
while redis.call('LLEN', KEYS[1]) > tonumber(ARGV[5]) do
  local old = redis.call('LPOP', KEYS[1])
  redis.call('HDEL', KEYS[2], string.sub(old, 1, string.find(old, '\n', 1, true) - 1))
end
for i = 1, 2 do
  if redis.call('PTTL', KEYS[i]) < 0 then
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
  end
end
local out = {}
for _, item in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local cut = string.find(item, '\n', 1, true)
  local id = string.sub(item, 1, cut - 1)
  out[#out + 1] = id
  out[#out + 1] = string.sub(item, cut + 1)
  out[#out + 1] = redis.call('HGET', KEYS[2], id) or ''
end
return out
