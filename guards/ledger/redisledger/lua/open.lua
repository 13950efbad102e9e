-- ARGV 4…: mode ("slice" or "cap"), target, soft, hard, opening
local mode, hard, opening = ARGV[4], ARGV[7], ARGV[8]
local before = redis.call('HGET', A, '/opening/' .. id)
if before then
  if before ~= opening then
    return {'conflict'}
  end
  return balance({'ok'}, id)
end
local above = parent(id)
if above then
  local accounts, pool = line(above)
  if not accounts then
    return {'noaccount', above}
  end
  if accounts[1].x == 1 then
    return {'closed', above}
  end
  if mode ~= 'cap' then
    local account = refuses(accounts, pool, hard)
    if account then
      return balance({'exceeded'}, account.id)
    end
    for i = 1, pool do
      add(accounts[i], 'l', hard)
    end
  end
  add(accounts[1], 'k', '1')
end
dirty[id] = parse(id, table.concat({mode, ARGV[5], ARGV[6], hard, '0 0 0 0 0 0 0 0 0 0'}, ' '))
redis.call('HSET', A, '/opening/' .. id, opening)
changed()
return balance({'ok'}, id)
