-- The store's record, KEYS[1]: which data this is, and what it may do.
--
-- Invariant: nothing is granted within maxTtl of a loss of data. The record names the replication
-- id of the server that wrote it; a restart and a promotion change that id, and a flush takes the
-- record away, so that whoever could be granted anything finds a difference first, and begins a
-- quarantine. In it nothing new is granted, and the leases of claims that were lost run out.
-- It also keeps the highest number given to a claim of an idle resource, which leaves no key
-- behind, so that numbers grow although the clock of the server goes back.
-- Fixed width: layout 1, replication id 40, open at (ms) 13, highest number 16, maxTtl.
-- ARGV[1], words: 'w' if replicas are asked for this afterwards, who can only tell of what was
-- written, or '-', with maxTtl; 'fresh' if no script of ours was known here, or 'known'; 'wait' or
-- 'trust'; maxWaiters; the prefix of the channels. What the verb takes follows.
local replication = call('INFO', 'replication')
local _, at = string.find(replication, 'master_replid:', 1, true)
local data = at and sub(replication, at + 1, at + 40) or string.rep('0', 40)
local record = call('GET', KEYS[1])
local openAt, highest, maxTtl, recorded = 0, 0, 0, false
local write = sub(ARGV[1], 1, 1) == 'w'
if record then
  if sub(record, 1, 1) ~= '1' or #record < 71 then
    return redis.error_reply('LAYOUT ' .. KEYS[1] .. ' has another layout')
  end
  openAt, highest = tonumber(sub(record, 42, 54)), tonumber(sub(record, 55, 70))
  maxTtl = tonumber(sub(record, 71))
  recorded = sub(record, 2, 41) == data
end
local longest = tonumber(string.match(ARGV[1], '%d+'))
if maxTtl < longest then
  maxTtl, write = longest, true
end
local function settings()
  return string.match(ARGV[1], ' (%a+) (%a+) (%d+) (%S+)$')
end
if not recorded then
  local known, afterLoss = settings()
  -- Data may have been lost, unless it is certain that there was nothing to lose: up for longer
  -- than any lease, always a primary, never flushed, and no program has used it for locks.
  local server, stats = call('INFO', 'server'), call('INFO', 'stats') .. call('INFO', 'commandstats')
  local upMs = tonumber(string.match(server, 'uptime_in_seconds:(%d+)') or 0) * 1000
  local certain = not record and known == 'fresh' and upMs > maxTtl
    and string.find(replication, 'master_replid2:' .. string.rep('0', 40), 1, true)
    and string.find(stats, 'evicted_keys:0\r', 1, true)
  for _, verb in ipairs({ 'flushall', 'flushdb', 'swapdb', 'script|flush', 'config|resetstat',
    'replicaof', 'slaveof', 'failover', 'debug' }) do
    certain = certain and not string.find(stats, 'cmdstat_' .. verb .. ':', 1, true)
  end
  if afterLoss == 'trust' or certain then
    openAt = 0
  else
    openAt = now + maxTtl
  end
  write = true
end
local open = now >= openAt
-- Once a second, so that a claim whose process died is among what the highest number covers.
if micros - highest > 1000000 then
  highest, write = micros, true
end
local function keep()
  if write then
    call('SET', KEYS[1], '1' .. data .. format('%013.0f%016.0f%.0f', openAt, highest, maxTtl))
  end
end
local function fresh(last)
  local number = micros
  if number <= highest then number = highest + 1 end
  if number <= last then number = last + 1 end
  -- Ahead of the clock it would be given again once its key has expired.
  if number > micros then highest, write = number, true end
  return number
end
