-- ARGV 4…: key
local key = ARGV[4]
sweep()
local names = {}
for i, part in ipairs(parts) do
  names[i] = key .. '|' .. part
end
local entry = redis.call('HMGET', E, unpack(names))
if not entry[1] then
  return {version == 0 and 'noaccount' or 'noreservation', id}
end
if entry[2] ~= id then
  return {'conflict'}
end
local answer = balance({'ok'}, id)
answer[#answer + 1] = key
for _, value in ipairs(entry) do
  answer[#answer + 1] = value or ''
end
return answer
