-- The common way into a queue: everything is held, and others are waiting already.
-- It answers as queue.lua does and leaves the same queue, but reads less and needs none of its
-- functions. Anything unusual it leaves to queue.lua before it writes.
-- The head says enough: no holder has died (death), nor the first waiter (fore); which claim came
-- last (newest); and no waiter has left, as there are as many waiters as places.
local function join(key, asked)
  local id = sub(asked, 1, 32)
  local found = redis.pcall('HMGET', key, '#', id, 'T' .. id)
  if found.err or not found[1] or found[2] or found[3] or not open then return nil end
  local queue = unpackedHead(key, found[1])
  local waiters, place = queue.waiters, queue.next
  local _, maxWaiters = settings()
  if queue.used ~= queue.limit or now >= queue.death or queue.ended
    or waiters == 0 or waiters >= tonumber(maxWaiters) or place - queue.first ~= waiters
    or queue.told ~= queue.first or now >= (queue.fore or 0) then
    return nil
  end
  local kind, permits, limit, ttl, address, tag, holder =
    string.match(asked, '^q(%a) (%d+) (%d+) (%d+) (%S+) (%S+) (.*)$', 33)
  permits, limit, ttl = tonumber(permits), tonumber(limit), tonumber(ttl)
  if kind ~= queue.kind or limit ~= queue.limit then return nil end
  local text = call('HGET', key, queue.newest)
  local before = text and unpacked(key, text)
  if not before or before.place ~= place - 1 or before.expires <= now then return nil end
  local expires = now + ttl
  if expires + REMEMBER / 2 > queue.keptTo then return nil end
  local number = fresh(queue.last)
  queue.last, queue.next, queue.waiters, queue.newest = number, place + 1, waiters + 1, id
  local claim = {
    id = id, kind = kind, permits = permits, limit = limit, ttl = ttl, address = address,
    tag = tag, holder = holder, number = number, expires = expires, place = place, waits = true,
    trusts = trusts or nil,
  }
  call('HSET', key, id, pack(claim), place, id, '#', pack(queue))
  return format('w %.0f %.0f - queue %.0f %.0f %s %.0f', ttl, queue.count + waiters,
    before.expires - now, number, before.tag, before.number)
end
