local accounts, pool = line(id)
if not accounts then
  return {'noaccount', id}
end
local account = accounts[1]
if account.x == 1 then
  return balance({'ok'}, id)
end
if account.p > 0 or account.k > 0 then
  return {'pending'}
end
if accounts[2] then
  take(accounts[2], 'k', '1')
  if account.m ~= 'cap' then
    local above, drawing = line(accounts[2].id)
    for i = 1, drawing do
      take(above[i], 'l', account.h)
      -- The overrun reached the parent when it happened.
      add(above[i], 'c', account.c - account.o)
    end
  end
end
add(account, 'x', '1')
changed()
save()
if not accounts[2] then
  -- The task is over; its books keep their totals only.
  redis.call('DEL', E, X, U, D)
end
return balance({'ok'}, id)
