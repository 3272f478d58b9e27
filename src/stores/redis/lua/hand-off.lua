-- The common way out of a queue: the holder of everything leaves, and the first waiter, which lives
-- and wants as much, is admitted. It leaves the queue as queue.lua would, but reads less and needs
-- none of its functions: the head (functions.lua) says enough. Before it writes, it leaves anything
-- unusual to queue.lua, and returns false; or nil, where record.lua must have `looked` at the server
-- (redis-store.ts).
-- Its message is that of queue.lua with the leaver's secret, a proof (wakes.ts): the leaver held
-- everything, and no claim stands between the two.
local function handOff(key, asked, looked)
  local id = sub(asked, 1, 32)
  local packed = sub(asked, 33, 33) == '-' and redis.pcall('HGET', key, '#')
  if type(packed) ~= 'string' then return false end
  local head = unpackedHead(key, packed)
  local first, waiters = head.first, head.waiters - 1
  if head.only ~= id or not head.number or now >= head.death or head.used ~= head.limit
    or waiters < 0 or head.told ~= first or head.ended or head.raised
    or head.last > math.max(highest, micros) then
    return false
  end
  -- It leaves at once, and shows its secret (release.lua).
  local proof = string.match(asked, ' 0( .*)', 34)
  if not looked and (not proof or head.kind == 'r' or head.kind == 'w') then return nil end
  local ids = waiters > 0 and call('HMGET', key, first, first + 1) or { head.newest }
  if not ids[1] or waiters > 0 and not ids[2] then return false end
  local texts = call('HMGET', key, ids[1], ids[2] or ids[1])
  if not texts[1] or not texts[2] then return false end
  local claim = unpacked(key, texts[1])
  local follower = waiters > 0 and unpacked(key, texts[2])
  local expires = claim.expires
  if claim.place ~= first or expires <= now or not over and not claim.trusts
    or claim.permits ~= head.used or claim.limit ~= head.limit
    or follower and (follower.expires <= now or follower.limit ~= head.limit)
    or expires + REMEMBER / 2 > head.keptTo then
    return false
  end
  claim.admitted, claim.waits, claim.ended, claim.endedBy = true, nil, 'released', head.number
  head.only, head.number, head.death, head.waiters = claim.id, claim.number, expires, waiters
  head.first = head.next
  if follower then
    head.first, head.told, head.fore = first + 1, first + 1, follower.expires
  end
  call('HDEL', key, id, first)
  call('HSET', key, claim.id, pack(claim), '#', pack(head))
  local _, _, prefix = settings()
  local letter = claim.address ~= '-' and format('%s h %.0f %.0f %.0f - released %.0f%s',
    claim.tag, claim.number, expires - now, waiters, claim.endedBy, proof or '')
  if follower and follower.address ~= '-' then
    local line = format('%s w %.0f 1 - queue %.0f',
      follower.tag, follower.expires - now, expires - now)
    if letter and follower.address == claim.address then
      letter = letter .. '\n' .. line
    else
      call('PUBLISH', prefix .. follower.address, line)
    end
  end
  if letter then call('PUBLISH', prefix .. claim.address, letter) end
  return 1
end
