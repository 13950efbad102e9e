-- ARGV 4…: key, proof
local key, proof = ARGV[4], ARGV[5]
local entry = redis.call('HMGET', E, key .. '|s', key .. '|a', key .. '|m', key .. '|p')
if not entry[1] then
  return {version == 0 and 'noaccount' or 'noreservation', id}
end
if entry[2] ~= id or entry[1] == 'committed' or entry[1] == 'released' and entry[4] ~= proof then
  return {'conflict'}
end
if entry[1] ~= 'released' then
  local accounts, pool = line(id)
  if not accounts then
    return {'noaccount', id}
  end
  redis.call('HSET', E, key .. '|s', 'released', key .. '|p', proof)
  unhold(accounts, pool, key, entry[1], entry[3])
  retire(key)
end
return balance({'ok'}, id)
