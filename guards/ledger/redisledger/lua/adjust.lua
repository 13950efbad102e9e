-- ARGV 4…: approval, target, soft, hard, adjustment
local approval, hard, adjustment = ARGV[4], tonumber(ARGV[7]), ARGV[8]
local accounts = line(id)
if not accounts then
  return {'noaccount', id}
end
local before = redis.call('HGET', A, '/approval/' .. approval)
if before then
  if before ~= adjustment then
    return {'conflict'}
  end
  return balance({'ok'}, id)
end
local account = accounts[1]
if account.x == 1 then
  return {'closed', id}
end
hard = math.max(hard, used(account) - account.o)
if accounts[2] and account.m ~= 'cap' then
  local above, drawing = line(accounts[2].id)
  local more = hard - account.h
  if more > 0 then
    local refusing = refuses(above, drawing, more)
    if refusing then
      local answer = balance({'exceeded'}, refusing.id)
      answer[#answer + 1] = whole(more)
      return answer
    end
  end
  for i = 1, drawing do
    add(above[i], 'l', more)
  end
end
account.t, account.s, account.h = tonumber(ARGV[5]), tonumber(ARGV[6]), hard
dirty[id] = account
redis.call('HSET', A, '/approval/' .. approval, adjustment)
changed()
return balance({'ok'}, id)
