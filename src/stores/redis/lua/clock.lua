-- The start of every script. Only the server's clock counts.
local call, sub, format = redis.call, string.sub, string.format
-- For so long, in ms, a key outlives its claims: the next holder learns how the last hold ended.
local REMEMBER = 600000
-- Numbers are exact up to 2^53. A clock beyond this is wrong and not followed, so numbers still
-- have room to grow once it is set right.
local LATEST = 2 ^ 52
-- True in server.lua alone, whose record is that of a whole server.
local SERVER = false
-- For record.lua, and functions made before it.
local record, data, openAt, highest, maxTtl, tail, write, over, open
local time = call('TIME')
local micros = time[1] * 1000000 + time[2]
if micros > LATEST then
  return redis.error_reply('CLOCK of the server is later than the year 2112')
end
local now = math.floor(micros / 1000)
