-- ARGV 4…: key, amount, lease in ms, estimate, whether its price is free, nonce, lease as asked
local key, amount, lease, estimate, nonce = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[9]
sweep()
local entry = redis.call('HMGET', E, key .. '|s', key .. '|a', key .. '|m', key .. '|q', key .. '|n', key .. '|t', key .. '|f')
if entry[1] then
  if entry[7] or entry[2] ~= id or entry[3] ~= amount or entry[4] ~= estimate then
    return {'conflict'}
  end
  -- The same nonce is the same request arriving twice: its answer was lost on the way.
  return balance({'ok', entry[5] == nonce and '0' or '1', entry[1], entry[6]}, id)
end
local accounts, pool = line(id)
if not accounts then
  return {'noaccount', id}
end
if accounts[1].x == 1 then
  return {'closed', id}
end
local account = refuses(accounts, pool, amount)
if account then
  return balance({'exceeded'}, account.id)
end
for _, account in ipairs(accounts) do
  if account.s > 0 and tonumber(amount) > account.s - account.S - account.H then
    return balance({'approval'}, account.id)
  end
end
for i, account in ipairs(accounts) do
  if i <= pool then
    add(account, 'r', amount)
  end
  add(account, 'H', amount)
end
add(accounts[1], 'p', '1')
local expires = whole(now + lease)
redis.call('HSET', E, key .. '|s', 'open', key .. '|a', id, key .. '|m', amount, key .. '|q', estimate, key .. '|z', ARGV[8],
  key .. '|n', nonce, key .. '|t', expires, key .. '|l', ARGV[10])
redis.call('ZADD', X, expires, key)
changed()
return balance({'ok', '0', 'open', expires}, id)
