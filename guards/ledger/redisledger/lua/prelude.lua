-- The books of one task. Every key carries the task's hash tag, so a script finds them all on
-- one node. Amounts travel as strings and change by HINCRBY, which is exact; Lua's doubles only
-- compare them, and every amount is below 2^53. Redis doesn't undo a script that fails half-way:
-- each script checks everything before its first write, and skips amounts of zero, since
-- HINCRBY refuses "-0". No key ever gets a time to live.
local A, E, X, U, D = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- ARGV: the highest version the client has seen, how many settled entries to remember, account.
local seen, remember, id = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

local version = tonumber(redis.call('HGET', A, 'v') or '0')
if version < seen then
  return {'rolledback'}
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function whole(n)
  return string.format('%.0f', n)
end

local fields = {'m', 't', 's', 'h', 'c', 'r', 'u', 'l', 'o', 'S', 'H', 'x', 'k', 'p'}

-- load reads an account, or gives nil.
local function load(name)
  local names = {}
  for i, f in ipairs(fields) do
    names[i] = name .. '|' .. f
  end
  local values = redis.call('HMGET', A, unpack(names))
  if not values[4] then
    return nil
  end
  local account = {id = name}
  for i, f in ipairs(fields) do
    account[f] = f == 'm' and values[i] or tonumber(values[i] or '0')
  end
  account.used = account.c + account.r + account.u + account.l
  return account
end

local function parent(name)
  return string.match(name, '^(.*)/[^/]*$')
end

-- line gives an account and its ancestors, innermost first, and how many of them draw on the
-- same money. A missing ancestor means that Redis lost it.
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
  if amount ~= '0' then
    redis.call('HINCRBY', A, account.id .. '|' .. field, amount)
  end
end

local function take(account, field, amount)
  if amount ~= '0' then
    redis.call('HINCRBY', A, account.id .. '|' .. field, '-' .. amount)
  end
end

local function changed()
  redis.call('HINCRBY', A, 'v', 1)
end

-- balance appends an account's state to an answer, as strings.
local function balance(answer, name)
  local names = {}
  for i = 1, 12 do
    names[i] = name .. '|' .. fields[i]
  end
  names[13] = 'v'
  answer[#answer + 1] = name
  for _, value in ipairs(redis.call('HMGET', A, unpack(names))) do
    answer[#answer + 1] = value or '0'
  end
  return answer
end

-- refuses gives the first account of a pool that amount doesn't fit in.
local function refuses(accounts, pool, amount)
  for i = 1, pool do
    local account = accounts[i]
    if tonumber(amount) > account.h - account.used then
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
  redis.call('ZREM', X, key)
  redis.call('SREM', U, key)
end

local parts = {'s', 'a', 'm', 'q', 'n', 't', 'c', 'g', 'o', 'f', 'p', 'l', 'z'}

-- retire remembers a settled entry and forgets the oldest ones.
local function retire(key)
  redis.call('LPUSH', D, key)
  while redis.call('LLEN', D) > remember do
    local oldest = redis.call('RPOP', D)
    local names = {}
    for i, part in ipairs(parts) do
      names[i] = oldest .. '|' .. part
    end
    redis.call('HDEL', E, unpack(names))
  end
  changed()
end
