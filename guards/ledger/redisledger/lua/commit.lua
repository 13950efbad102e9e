-- ARGV 4…: key, source, actual, charge, charge if the cost can't be true, whether it might not be
local key, source, actual, charge = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local entry = redis.call('HMGET', E, key .. '|s', key .. '|a', key .. '|m', key .. '|c', key .. '|g', key .. '|o', key .. '|f', key .. '|z')
local state, amount = entry[1], entry[3] or '0'
if ARGV[9] == '1' and entry[8] ~= '1' then
  source, charge = '', ARGV[8]
end
if state and entry[2] ~= id or state == 'released' then
  return {'conflict'}
end
if state == 'committed' then
  if entry[4] ~= charge then
    return {'conflict'}
  end
  return balance({'ok', '1', amount, entry[5], entry[6], entry[7] or '0', ''}, id)
end
local accounts, pool = line(id)
if not accounts then
  return {'noaccount', id}
end
if not state and source == '' then
  return {'noreservation'}
end
local charged = source == '' and amount or actual
if tonumber(charged) > 9007199254740991 - accounts[#accounts].S then
  return {'range'}
end
local overrun = whole(math.max(0, tonumber(charged) - tonumber(amount)))
local passed = {}
for i, account in ipairs(accounts) do
  if account.t > 0 and account.S <= account.t and account.S + tonumber(charged) > account.t then
    passed[#passed + 1] = account.id
  end
  add(account, 'c', i <= pool and charged or overrun)
  add(account, 'o', overrun)
  add(account, 'S', charged)
end
redis.call('HSET', E, key .. '|s', 'committed', key .. '|c', charge, key .. '|g', charged, key .. '|o', overrun)
if state then
  unhold(accounts, pool, key, state, amount)
else
  redis.call('HSET', E, key .. '|a', id, key .. '|m', '0', key .. '|f', '1')
end
retire(key)
return balance({'ok', '0', amount, charged, overrun, state and '0' or '1', table.concat(passed, ' ')}, id)
