-- ARGV 4…: key, lease in ms
local key = ARGV[4]
sweep()
local entry = redis.call('HMGET', E, key .. '|s', key .. '|a', key .. '|t')
if not entry[1] then
  return {version == 0 and 'noaccount' or 'noreservation', id}
end
if entry[2] ~= id then
  return {'conflict'}
end
if entry[1] ~= 'open' or tonumber(entry[3]) < now then
  return {'ended'}
end
local expires = now + tonumber(ARGV[5])
if expires > tonumber(entry[3]) then
  redis.call('HSET', E, key .. '|t', whole(expires))
  redis.call('ZADD', X, whole(expires), key)
  changed()
end
return balance({'ok'}, id)
