-- Raises the fence, or reports a newer holder.
-- KEYS: the fence. ARGV: lineage, token of 19 digits, 'r' of a reader or 'w', or 'a' to adopt;
-- how many ms to keep the fence, 0 for ever.
-- Answers {1, entry}; {0, lineage, token, floor} if a newer holder was here; {2} if it is no fence.
-- One step: nothing comes between its reads and its writes.
local key = KEYS[1]
local lineage, token, how, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local none = string.rep('0', 19)
local layout, known, highest, floor, last =
  unpack(redis.call('HMGET', key, 'layout', 'lineage', 'token', 'floor', 'entry'))
if layout ~= '1' and redis.call('EXISTS', key) == 1 then return { 2 } end
if not layout then
  known, highest, floor, last = lineage, none, none, '0'
end

-- Compared as texts of equal length: a Lua number would lose the last digits of a token.
if how == 'a' then
  known, highest, floor = lineage, token, none
elseif known ~= lineage or highest > token or (how == 'w' and floor > token) then
  return { 0, known, highest, floor }
elseif how == 'w' then
  highest = token
elseif floor < token then
  floor = token
end

-- By the clock, so that no entry of a fence deleted since passes for one of this fence.
local now = redis.call('TIME')
local entry = math.max(now[1] * 1000000 + now[2], last + 1)
local number = string.format('%.0f', entry)
redis.call('HSET', key, 'layout', '1', 'lineage', known, 'token', highest, 'floor', floor,
  'entry', number, 'seq', '0')
if keep ~= '0' then
  redis.call('PEXPIRE', key, keep)
else
  redis.call('PERSIST', key)
end
return { 1, number }
