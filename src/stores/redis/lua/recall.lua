#!lua flags=allow-oom
-- include clock.lua
-- Reads the text of kept.lua in KEYS[2], and how long it stays. It changes nothing, but is not
-- marked so: a replica, and a primary cut off from the replicas it needs, must refuse it.
local found = call('GET', KEYS[2])
if not found then return { now } end
if sub(found, 1, 1) ~= '1' then
  return redis.error_reply('LAYOUT ' .. KEYS[2] .. ' has another layout')
end
return { now, sub(found, 2), call('PTTL', KEYS[2]) }
