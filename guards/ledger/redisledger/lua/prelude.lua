-- The books of one task. Every key carries the task's hash tag, so a script finds them all on
-- one node. An account is one field of one hash, its amounts as decimal text: they stay below
-- 2^53, where Lua's numbers are exact, and are written with %.0f, since tostring would write
-- 1e+14. Redis doesn't undo a script that fails half-way: each script checks everything before
-- its first write. No key ever gets a time to live.
local A, E, X, U, D = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- ARGV: the highest version the client has seen, how many settled entries to remember, account.
local seen, remember, id = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

local function parent(name)
  return string.match(name, '^(.*)/[^/]*$')
end

local function whole(n)
  return string.format('%.0f', n)
end

-- mode, target, soft, hard, committed, reserved, unsettled, allocated, overrun, spent, held,
-- closed, open children, own reservations
local pattern = '^(%a+)' .. string.rep(' (%d+)', 13) .. '$'
local layout = '%s' .. string.rep(' %.0f', 13)
local books, dirty = {}, {}

local function parse(name, text)
  local m, t, s, h, c, r, u, l, o, S, H, x, k, p = string.match(text, pattern)
  local account = {
    id = name, m = m, t = tonumber(t), s = tonumber(s), h = tonumber(h), c = tonumber(c), r = tonumber(r), u = tonumber(u),
    l = tonumber(l), o = tonumber(o), S = tonumber(S), H = tonumber(H), x = tonumber(x), k = tonumber(k), p = tonumber(p),
  }
  books[name] = account
  return account
end

local function text(a)
  return string.format(layout, a.m, a.t, a.s, a.h, a.c, a.r, a.u, a.l, a.o, a.S, a.H, a.x, a.k, a.p)
end

-- One round for the version, the account and its ancestors. No account's name begins with "/".
local wanted = {'/version'}
do
  local name = id
  while name do
    wanted[#wanted + 1] = name
    name = parent(name)
  end
end
local found = redis.call('HMGET', A, unpack(wanted))
local version = tonumber(found[1] or '0')
if version < seen then
  return {'rolledback'}
end
for i = 2, #wanted do
  if found[i] then
    parse(wanted[i], found[i])
  end
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- load gives an account, or nil.
local function load(name)
  if books[name] then
    return books[name]
  end
  local text = redis.call('HGET', A, name)
  return text and parse(name, text) or nil
end

local function used(account)
  return account.c + account.r + account.u + account.l
end

-- line gives an account and its ancestors, innermost first, and how many of them draw on the
-- same money. It gives nil when one is missing.
local function line(name)
  local all, pool, drawing = {}, 0, true
  while name do
    local account = load(name)
    if not account then
      return nil, 0
    end
    all[#all + 1] = account
    if drawing then
      pool = #all
      drawing = account.m == 'cap'
    end
    name = parent(name)
  end
  return all, pool
end

local function add(account, field, amount)
  account[field] = account[field] + tonumber(amount)
  dirty[account.id] = account
end

local function take(account, field, amount)
  add(account, field, -tonumber(amount))
end

local moved = false

local function changed()
  moved = true
end

-- save writes the accounts that changed, under a new version.
local function save()
  if not moved then
    return
  end
  version = version + 1
  local pairs_ = {'/version', whole(version)}
  for name, account in pairs(dirty) do
    pairs_[#pairs_ + 1] = name
    pairs_[#pairs_ + 1] = text(account)
  end
  redis.call('HSET', A, unpack(pairs_))
  moved, dirty = false, {}
end

-- balance saves, and appends an account's state to an answer.
local function balance(answer, name)
  save()
  answer[#answer + 1] = name
  answer[#answer + 1] = text(load(name))
  answer[#answer + 1] = whole(version)
  return answer
end

-- refuses gives the first account of a pool that amount doesn't fit in.
local function refuses(accounts, pool, amount)
  for i = 1, pool do
    local account = accounts[i]
    if tonumber(amount) > account.h - used(account) then
      return account
    end
  end
end

-- sweep makes reservations whose lease has ended unsettled. They stay charged.
local function sweep()
  local ended = redis.call('ZRANGEBYSCORE', X, '-inf', '(' .. whole(now), 'LIMIT', 0, 256)
  for _, key in ipairs(ended) do
    local entry = redis.call('HMGET', E, key .. '|a', key .. '|m')
    local accounts, pool = line(entry[1])
    for i = 1, pool do
      take(accounts[i], 'r', entry[2])
      add(accounts[i], 'u', entry[2])
    end
    redis.call('HSET', E, key .. '|s', 'unsettled')
    redis.call('ZREM', X, key)
    redis.call('SADD', U, key)
    changed()
  end
  save() -- whatever the script decides next
end

-- unhold takes a reservation out of the accounts it is held in.
local function unhold(accounts, pool, key, state, amount)
  for i, account in ipairs(accounts) do
    if i <= pool then
      take(account, state == 'unsettled' and 'u' or 'r', amount)
    end
    take(account, 'H', amount)
  end
  take(accounts[1], 'p', '1')
  if state == 'unsettled' then
    redis.call('SREM', U, key)
  else
    redis.call('ZREM', X, key)
  end
end

local parts = {'s', 'a', 'm', 'q', 'n', 't', 'c', 'g', 'o', 'f', 'p', 'l', 'z'}

-- retire remembers a settled entry and forgets the oldest ones.
local function retire(key)
  local length = redis.call('LPUSH', D, key)
  while length > remember do
    length = length - 1
    local oldest = redis.call('RPOP', D)
    local names = {}
    for i, part in ipairs(parts) do
      names[i] = oldest .. '|' .. part
    end
    redis.call('HDEL', E, unpack(names))
  end
  changed()
end
