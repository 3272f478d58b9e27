-- What Redisson writes for each kind of lock. `enter` takes it if it is free, `left` says how long
-- a hold has left, `last` extends it, `leave` ends it and wakes waiters in Java.
local FREE = -2

-- RLock: a hash of one owner with the number of its entries. RFencedLock counts each entry.
local mutex = { letter = 'm' }
function mutex.enter(c)
  if call('EXISTS', c.key) == 1 then return false end
  call('HSET', c.key, c.owner, 1)
  call('PEXPIRE', c.key, c.ttl)
  return true
end
function mutex.left(c)
  return call('HEXISTS', c.key, c.owner) == 1 and leftOf(c.key) or FREE
end
function mutex.last(c, ttl)
  call('PEXPIRE', c.key, ttl)
end
function mutex.leave(c)
  call('DEL', c.key)
  tell('redisson_lock__channel:' .. braced(c.key), '0')
end

-- RReadWriteLock: a hash with its mode beside the owners. Each entry of a reader has its own key
-- and lives as long as that; the hash lives as long as the last of these keys.
local reader = { letter = 'r' }
-- Redisson makes the names of these keys from the owners, too.
local function longest(key)
  local left = FREE
  local fields = call('HGETALL', key)
  for i = 1, #fields, 2 do
    for n = 1, tonumber(fields[i + 1]) or 0 do
      left = math.max(left, call('PTTL', braced(key) .. ':' .. fields[i] .. ':rwlock_timeout:' .. n))
    end
  end
  return left
end
function reader.enter(c)
  local mode = call('HGET', c.key, 'mode')
  if mode and mode ~= 'read' then return false end
  call('HSET', c.key, 'mode', 'read', c.owner, 1)
  call('SET', c.hold, 1, 'PX', c.ttl)
  lastsFor(c.key, c.ttl)
  return true
end
function reader.left(c)
  return call('HEXISTS', c.key, c.owner) == 1 and leftOf(c.hold) or FREE
end
function reader.last(c, ttl)
  call('PEXPIRE', c.hold, ttl)
  call('PEXPIRE', c.key, longest(c.key))
end
function reader.leave(c)
  call('HDEL', c.key, c.owner)
  call('DEL', c.hold)
  local left = longest(c.key)
  if left > 0 then
    call('PEXPIRE', c.key, left)
  else
    call('DEL', c.key)
    tell('redisson_rwlock:' .. braced(c.key), '0')
  end
end

local writer = { letter = 'w' }
function writer.enter(c)
  if call('EXISTS', c.key) == 1 then return false end
  call('HSET', c.key, 'mode', 'write', c.owner .. ':write', 1)
  call('PEXPIRE', c.key, c.ttl)
  return true
end
function writer.left(c)
  return call('HEXISTS', c.key, c.owner .. ':write') == 1 and leftOf(c.key) or FREE
end
writer.last = mutex.last
-- '1', as Redisson's writers send it, wakes all sleeping threads. A thread that was refused but
-- does not sleep yet misses it; '0' leaves a permit, which it takes instead of sleeping.
local function writerLeft(c)
  local channel = 'redisson_rwlock:' .. braced(c.key)
  tell(channel, '1')
  tell(channel, '0')
end
function writer.leave(c)
  call('DEL', c.key)
  writerLeft(c)
end

-- Like a Redisson thread that takes the read lock and then releases the write lock. That thread
-- wakes no readers, but we do.
local function becomeReader(c, left)
  call('HSET', c.key, 'mode', 'read', c.owner, 1)
  call('HDEL', c.key, c.owner .. ':write')
  call('SET', c.hold, 1, 'PX', left)
  writerLeft(c)
end

-- RPermitExpirableSemaphore: the number of free permits, and those in use, 16 bytes each, by end.
-- The first program sets how many there are.
local permit = { letter = 'p' }
local function raw(hex)
  return (string.gsub(hex, '%x%x', function(byte) return string.char(tonumber(byte, 16)) end))
end
local function memberOf(id, i)
  return raw(i == 1 and id or sub(redis.sha1hex(id .. i), 1, 32))
end
local function semaphoreHas(c, permits)
  tell('redisson_sc:' .. braced(c.key), permits)
end
local function more(c, count)
  if count > 0 then semaphoreHas(c, call('INCRBY', c.key, count)) end
end
function permit.enter(c)
  if not call('GET', c.key) then
    call('SET', c.key, c.limit)
    semaphoreHas(c, c.limit)
  end
  local over = call('ZRANGEBYSCORE', c.ends, 0, now)
  for _, member in ipairs(over) do call('ZREM', c.ends, member) end
  more(c, #over)
  local available, used = tonumber(call('GET', c.key)), call('ZCARD', c.ends)
  c.inForce = available + used
  if c.permits > available or used + c.permits > c.limit then return false end
  call('DECRBY', c.key, c.permits)
  for i = 1, c.permits do call('ZADD', c.ends, now + c.ttl, memberOf(c.id, i)) end
  return true
end
function permit.left(c)
  local ends = call('ZSCORE', c.ends, memberOf(c.id, 1))
  return ends and ends - now > 0 and ends - now or FREE
end
function permit.last(c, ttl)
  for i = 1, c.permits do call('ZADD', c.ends, 'XX', format('%.0f', now + ttl), memberOf(c.id, i)) end
end
function permit.leave(c)
  local count = 0
  for i = 1, c.permits do count = count + call('ZREM', c.ends, memberOf(c.id, i)) end
  more(c, count)
end

local KINDS = { m = mutex, r = reader, w = writer, p = permit }
