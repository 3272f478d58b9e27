-- What every script begins with. The clock of the server alone counts.
local call, sub, format = redis.call, string.sub, string.format
local pack, unpacked = cmsgpack.pack, cmsgpack.unpack
local ARGS = 1
local REMEMBER = 600000
local time = call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
