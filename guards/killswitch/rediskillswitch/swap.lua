-- ARGV: the next document, and the last one unless there must be none.
local now = redis.call('GET', KEYS[1])
if now ~= (ARGV[2] or false) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1])
return 1
