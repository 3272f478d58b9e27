-- The common way into a queue: everything is held, and others are waiting already.
-- It answers as queue.lua does and leaves the same queue, but reads less and needs none of its
-- functions: the head (functions.lua) says enough. Before it writes, it leaves anything unusual to
-- queue.lua. No waiter has left if there are as many waiters as places.
local function join(key, asked)
  local id = sub(asked, 1, 32)
  local found = redis.pcall('HMGET', key, '#', id, 'T' .. id)
  if found.err or not found[1] or found[2] or found[3] or not open then return nil end
  local head, claim = unpackedHead(key, found[1]), terms(id, sub(asked, 34))
  local waiters, place = head.waiters, head.next
  local _, maxWaiters = settings()
  if sub(asked, 33, 33) ~= 'q' or claim.kind ~= head.kind or claim.limit ~= head.limit
    or head.used ~= head.limit or now >= head.death or head.ended
    or waiters == 0 or waiters >= tonumber(maxWaiters) or place - head.first ~= waiters
    or head.told ~= head.first or now >= (head.fore or 0) then
    return nil
  end
  local text = call('HGET', key, head.newest)
  local before = text and unpacked(key, text)
  if not before or before.place ~= place - 1 or before.expires <= now then return nil end
  claim.expires, claim.place = now + claim.ttl, place
  claim.waits, claim.trusts = true, trusts or nil
  if claim.expires + REMEMBER / 2 > head.keptTo then return nil end
  claim.number = newNumber(head.last)
  head.last, head.next, head.waiters, head.newest = claim.number, place + 1, waiters + 1, id
  call('HSET', key, id, pack(claim), place, id, '#', pack(head))
  return format('w %.0f %.0f - queue %.0f %.0f %s %.0f', claim.ttl, head.count + waiters,
    before.expires - now, claim.number, before.tag, before.number)
end
