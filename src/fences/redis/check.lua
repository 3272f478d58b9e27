-- Runs before each script that writes the guarded data, in one step with it.
-- KEYS: the fence, then those of the script. ARGV: entry, token of 19 digits, number of this
-- request within the entry, how many ms to keep the fence; then those of the script.
local KEYS, ARGV = (function(keys, args)
  local key, entry, token, seq, keep = keys[1], args[1], args[2], args[3], args[4]
  local seen = redis.call('HMGET', key, 'entry', 'token', 'seq')
  if seen[1] ~= entry or seen[2] ~= token then return nil, 'entry' end
  -- A copy of a request, or a request that a later one has overtaken.
  if tonumber(seen[3]) >= tonumber(seq) then return nil, 'seq' end
  redis.call('HSET', key, 'seq', seq)
  if keep ~= '0' then redis.call('PEXPIRE', key, keep) end
  -- unpack takes no more than 8,000.
  local own, rest = {}, {}
  for i = 2, #keys do own[i - 1] = keys[i] end
  for i = 5, #args do rest[i - 4] = args[i] end
  return own, rest
end)(KEYS, ARGV)
if not KEYS then return redis.error_reply('HOLDFAST_STALE ' .. ARGV) end
