-- What every script begins with. The clock of the server alone counts.
local call, sub, format = redis.call, string.sub, string.format
local pack = cmsgpack.pack
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
-- One element of a batch: whatever goes wrong is its own, such as a key of another program.
local function apart(step, ...)
  local ok, result = pcall(step, ...)
  if ok then return result end
  return 'e ' .. tostring(type(result) == 'table' and result.err or result)
end
local function refuse(key)
  error({ err = 'WRONGTYPE ' .. key .. ' is not a queue of claims' })
end
-- What a field of this key holds: a claim, a tombstone, a head. Others have such fields as well.
local function unpacked(key, text)
  local ok, value = pcall(cmsgpack.unpack, text)
  if not ok or type(value) ~= 'table' then refuse(key) end
  return value
end
local function unpackedHead(key, text)
  local queue = unpacked(key, text)
  if not queue.nextGrave then refuse(key) end
  return queue
end
