-- What Redisson writes for each kind of lock: to enter it if it is free, how long a hold has left,
-- to let it last for so long from now, and to leave it, with the message that wakes waiters in Java.
local FREE = -2

-- RLock: a hash of one owner with the number of its entries. RFencedLock counts each of them.
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

-- RReadWriteLock: a hash with its mode beside the owners. A reader lives as long as a key of its
-- own for each entry; the hash, as long as the last of them.
local reader = { letter = 'r' }
-- The keys of all readers' holds have names that Redisson, too, makes of their owners.
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
-- As a writer of Redisson, '1', which wakes all threads that sleep. A thread that has been refused
-- and does not sleep yet hears nothing of it; '0' leaves a permit, which it takes instead of sleeping.
local function writerLeft(c)
  local channel = 'redisson_rwlock:' .. braced(c.key)
  tell(channel, '1')
  tell(channel, '0')
end
function writer.leave(c)
  call('DEL', c.key)
  writerLeft(c)
end

-- As a thread of Redisson does that takes the read lock and then releases the write lock; it tells
-- no reader of that, but we do.
local function becomeReader(c, left)
  call('HSET', c.key, 'mode', 'read', c.owner, 1)
  call('HDEL', c.key, c.owner .. ':write')
  call('SET', c.hold, 1, 'PX', left)
  writerLeft(c)
end

-- RPermitExpirableSemaphore: the permits that are left, and the others, 16 bytes each, by their end.
-- Its permits are as many as the first program says.
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
