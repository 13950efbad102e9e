sweep()
if not load(id) then
  return {'noaccount', id}
end
local answer = balance({'ok'}, id)
for _, keys in ipairs({redis.call('ZRANGE', X, 0, -1), redis.call('SMEMBERS', U)}) do
  for _, key in ipairs(keys) do
    local names = {}
    for i, part in ipairs(parts) do
      names[i] = key .. '|' .. part
    end
    local entry = redis.call('HMGET', E, unpack(names))
    if entry[2] == id or string.sub(entry[2], 1, #id + 1) == id .. '/' then
      answer[#answer + 1] = key
      for _, value in ipairs(entry) do
        answer[#answer + 1] = value or ''
      end
    end
  end
end
return answer
