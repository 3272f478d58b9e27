-- What every script begins with. The clock of the server alone counts.
local call, sub, format = redis.call, string.sub, string.format
local ARGS = 1
local REMEMBER = 600000
-- Numbers are exact up to 2^53. A clock beyond this is wrong, and is not followed, so that there is
-- room for numbers to grow when it has been set right.
local LATEST = 2 ^ 52
local SERVER = false
local time = call('TIME')
local micros = time[1] * 1000000 + time[2]
if micros > LATEST then
  return redis.error_reply('CLOCK of the server is later than the year 2112')
end
local now = math.floor(micros / 1000)
