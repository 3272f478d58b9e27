#!lua flags=allow-oom
-- include clock.lua
-- What is kept, and for how much longer: KEYS[2], as kept.lua has it. It changes nothing, but is
-- not marked so: a replica, and a primary that is cut off from those it needs, must refuse it.
local found = call('GET', KEYS[2])
if not found then return { now } end
if sub(found, 1, 1) ~= '1' then
  return redis.error_reply('LAYOUT ' .. KEYS[2] .. ' has another layout')
end
return { now, sub(found, 2), call('PTTL', KEYS[2]) }
