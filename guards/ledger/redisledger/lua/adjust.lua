-- ARGV 4…: approval, target, soft, hard, adjustment
local approval, hard, adjustment = ARGV[4], tonumber(ARGV[7]), ARGV[8]
local accounts = line(id)
if not accounts then
  return {'noaccount', id}
end
-- No account's name begins with a slash.
local before = redis.call('HGET', A, '/approval|' .. approval)
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
hard = math.max(hard, account.used - account.o)
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
    add(above[i], 'l', whole(hard))
    take(above[i], 'l', whole(account.h))
  end
end
redis.call('HSET', A, id .. '|t', ARGV[5], id .. '|s', ARGV[6], id .. '|h', whole(hard), '/approval|' .. approval, adjustment)
changed()
return balance({'ok'}, id)
