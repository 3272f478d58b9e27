-- One resource, one key: a queue of claims, admitted in order of arrival while they fit.
--
-- Invariant: the admitted claims are a prefix of the living ones in order of arrival, and after
-- every step the dead claims are out of the way and all that fit are admitted
-- (contract/admission.ts). A step is one script, so none sees half of another. A claim that finds
-- no key is a string, which costs one command, until another joins: then, until the key goes, a
-- hash. '#' is its head, an id leads to its claim, a place in the order of arrival to the id that
-- waits there, 'T' and an id to a tombstone, 'T' and a number to the id of the one buried then.
-- No step costs more when more claims wait: the head (functions.lua) says enough, so only claims
-- that block others are read.
-- String: id 32, number 16, expires (ms) 13, and the terms as the claim brings them:
-- 'kind permits limit ttl address tag holder'. What breaks it: a second writer of these keys.
local function load(key)
  local head = {
    first = 1, next = 1, last = 0, count = 0, used = 0, waiters = 0, told = 0, death = 0,
    keptTo = 0, limits = {}, firstGrave = 1, nextGrave = 1,
  }
  local form, text = call('TYPE', key).ok, false
  if form == 'hash' then
    local packed = call('HGET', key, '#')
    if not packed then refuse(key) end
    head = unpackedHead(key, packed)
  elseif form == 'string' then
    text = call('GET', key)
    local plain = string.find(text, '^[mrwp] %d+ %d+ %d+ %S+ %S+ ', 62)
    if not plain or not string.find(sub(text, 33, 61), '^%d+$') then refuse(key) end
  elseif form ~= 'none' then
    refuse(key)
  end
  local q = {
    key = key, head = head, claims = {}, ids = {}, graves = {},
    dirty = {}, left = {}, buried = {}, tell = {},
  }
  if text then
    local claim = terms(sub(text, 1, 32), sub(text, 62))
    claim.number, claim.expires = tonumber(sub(text, 33, 48)), tonumber(sub(text, 49, 61))
    claim.place, claim.admitted = 1, true
    head.first, head.next, head.count = 2, 2, 1
    head.last, head.used, head.limit = claim.number, claim.permits, claim.limit
    head.death, head.kind = claim.expires, claim.kind
    head.only, head.number = claim.id, claim.number
    head.limits[claim.limit] = 1
    q.claims[claim.id], q.dirty[claim.id], q.text = claim, true, true
  end
  return q
end

local function find(q, id)
  local claim = q.claims[id]
  if claim == nil then
    local text = not q.text and call('HGET', q.key, id)
    claim = text and unpacked(q.key, text) or false
    q.claims[id] = claim
  end
  return claim
end

local function waiting(q, place)
  local id = q.ids[place]
  if id == nil then
    id = not q.text and call('HGET', q.key, place)
    q.ids[place] = id
  end
  return id and find(q, id)
end

local function all(q)
  if not q.text then
    local fields = call('HGETALL', q.key)
    for i = 1, #fields, 2 do
      local id = fields[i]
      if #id == 32 and q.claims[id] == nil then q.claims[id] = unpacked(q.key, fields[i + 1]) end
    end
  end
  local list = {}
  for _, claim in pairs(q.claims) do
    if claim then list[#list + 1] = claim end
  end
  table.sort(list, function(a, b) return a.place < b.place end)
  return list
end

local function holders(q)
  local head = q.head
  if head.count == 0 then return {} end
  if head.count == 1 and head.only then return { find(q, head.only) } end
  local list = {}
  for _, claim in ipairs(all(q)) do
    if claim.admitted then list[#list + 1] = claim end
  end
  return list
end

-- `more` holders more have this limit, or fewer: then it is negative.
local function hold(head, limit, more)
  local count = (head.limits[limit] or 0) + more
  head.limits[limit] = count > 0 and count or nil
  head.limit = nil
  for each in pairs(head.limits) do head.limit = math.min(head.limit or each, each) end
end

local function remove(q, claim)
  local head = q.head
  q.claims[claim.id], q.dirty[claim.id] = false, nil
  q.left[#q.left + 1] = claim.id
  q.changed = true
  if not claim.admitted then
    q.ids[claim.place] = false
    q.left[#q.left + 1] = claim.place
    head.waiters = head.waiters - 1
    return
  end
  head.count, head.used = head.count - 1, head.used - claim.permits
  head.only = nil
  hold(head, claim.limit, -1)
end

local function admit(q, claim)
  local head = q.head
  if claim.waits then
    q.left[#q.left + 1] = claim.place
    q.ids[claim.place] = false
    head.waiters = head.waiters - 1
    claim.waits = nil
  end
  claim.admitted = true
  -- Claims that arrived before a number was raised get one above it.
  if head.raised and claim.number <= head.raised then
    head.raised = head.raised + 1
    claim.number = head.raised
    head.last = math.max(head.last, claim.number)
  end
  head.only = head.count == 0 and claim.id or nil
  head.number = head.only and claim.number
  head.death = head.count == 0 and claim.expires or math.min(head.death, claim.expires)
  hold(head, claim.limit, 1)
  head.count, head.used = head.count + 1, head.used + claim.permits
  claim.ended, claim.endedBy = head.ended, head.endedBy
  q.dirty[claim.id], q.changed = true, true
end

local function fits(q, claim)
  local head = q.head
  return (over or claim.trusts) and head.used + claim.permits <= math.min(head.limit or claim.limit, claim.limit)
end

-- Not the claim that asks: it learns the same from the reply.
local function tell(q, claim)
  if claim.address ~= '-' and claim.id ~= q.asking then q.tell[#q.tell + 1] = claim end
end

-- The first living waiter.
local function front(q)
  local head = q.head
  while head.waiters > 0 and head.first < head.next do
    local claim = waiting(q, head.first)
    if claim and claim.expires > now then return claim end
    if claim then remove(q, claim) end
    head.first, q.changed = head.first + 1, true
  end
  if head.first < head.next then head.first, q.changed = head.next, true end
end

-- How a hold ended concerns claims admitted in the same step, or the next where none holds.
local function forget(head)
  if head.count > 0 or head.ended == 'released' then head.ended, head.endedBy = nil, nil end
end

-- How the hold of a claim ends that took no more heartbeats for this reason, if for any (gone.ts).
local function endingOf(sealed)
  if not sealed or sealed == 'unknown' then return 'released' end
  return sealed == 'handed-over' and sealed or 'evicted'
end

-- `how` and `number` are of the hold that has just ended.
local function settle(q, how, number)
  local head = q.head
  forget(head)
  if how then head.ended, head.endedBy = how, number end
  if head.count > 0 and now >= head.death then
    for _, claim in ipairs(holders(q)) do
      if claim.expires <= now then
        remove(q, claim)
        local how = claim.sealed and endingOf(claim.sealed) or 'expired'
        head.ended, head.endedBy = how, claim.number
      end
    end
    local left = holders(q)
    if #left > 0 then
      head.death, head.number, head.only = nil, nil, #left == 1 and left[1].id or nil
      for _, claim in ipairs(left) do
        head.death = math.min(head.death or claim.expires, claim.expires)
      end
      q.changed = true
    end
  end
  local claim = front(q)
  while claim and fits(q, claim) do
    admit(q, claim)
    head.first = head.first + 1
    tell(q, claim)
    claim = front(q)
  end
  if claim and head.fore ~= claim.expires then
    head.fore, q.changed = claim.expires, true
  end
  if claim and head.told ~= claim.place then
    head.told, q.changed = claim.place, true
    tell(q, claim)
  end
end

-- How many of these places have a waiter.
local function taken(q, from, to)
  local places, count = {}, 0
  for place = from, to do places[#places + 1] = place end
  local ids = #places > 0 and call('HMGET', q.key, unpack(places)) or {}
  for i, place in ipairs(places) do
    if q.ids[place] == nil then q.ids[place] = ids[i] end
    if q.ids[place] then count = count + 1 end
  end
  return count
end

local function ahead(q, claim)
  local head = q.head
  local before = claim.place - head.first
  if head.next - head.first > head.waiters then
    before = before <= 32 and taken(q, head.first, claim.place - 1)
      or math.min(before, head.waiters - 1)
  end
  return head.count + before
end

-- The claim right before a waiter: another waiter, or the only holder; none if several hold, or
-- the search takes too long.
local function predecessor(q, claim)
  local head, least = q.head, claim.place - 100
  for place = claim.place - 1, math.max(head.first, least), -1 do
    local before = waiting(q, place)
    if before and before.expires > now then return before end
    if before then remove(q, before) end
  end
  return head.first >= least and head.only and find(q, head.only)
end

local function status(q, claim)
  local head = q.head
  if claim.sealed then return 'g ' .. claim.sealed .. ' ' .. (claim.detail or '') end
  local left = claim.expires - now
  local inForce = math.min(head.limit or claim.limit, claim.limit)
  local limit = inForce < claim.limit and format('%.0f', inForce) or '-'
  if claim.admitted then
    local ended = claim.ended and format('%s %.0f', claim.ended, claim.endedBy) or '- 0'
    return format('h %.0f %.0f %.0f %s %s', claim.number, left, head.waiters, limit, ended)
  end
  -- The first waits for the earliest death of a holder, others for that of the claim before.
  local before, why, retry = predecessor(q, claim), 'data-loss', openAt - now
  if over or claim.trusts then
    why, retry = 'queue', (before and before.expires or head.death) - now
  end
  local turn = before and format(' %.0f %s %.0f', claim.number, before.tag, before.number) or ''
  return format('w %.0f %.0f %s %s %.0f%s', left, ahead(q, claim), limit, why, retry, turn)
end

local function grave(q, id)
  if q.graves[id] == nil then
    local text = not q.text and call('HGET', q.key, 'T' .. id)
    q.graves[id] = text and unpacked(q.key, text) or false
  end
  return q.graves[id]
end

-- Each new one removes up to two old ones, or they would pile up in a queue that is never empty.
local function bury(q, id, ttl, why, detail)
  local head = q.head
  for _ = 1, math.min(2, head.nextGrave - head.firstGrave) do
    local place = head.firstGrave
    local old = call('HGET', q.key, 'T' .. place)
    local there = old and grave(q, old)
    if there and there.place == place then
      if there.to > now then break end
      q.graves[old] = false
      q.left[#q.left + 1] = 'T' .. old
    end
    q.left[#q.left + 1] = 'T' .. place
    head.firstGrave = place + 1
  end
  q.graves[id] = { to = now + ttl, why = why, detail = detail, place = head.nextGrave }
  head.nextGrave = head.nextGrave + 1
  head.buriedTo = math.max(head.buriedTo or 0, now + ttl)
  q.buried[#q.buried + 1], q.changed = id, true
end

-- The reply to late copies of a claim that has left, if it left a tombstone.
local function buried(q, id)
  local there = q.head.buriedTo and grave(q, id)
  if there and there.to > now then return 'g ' .. there.why .. ' ' .. (there.detail or '') end
end

-- The reply for a claim that is not here.
local function missing(q, id)
  return buried(q, id) or open and 'g expired ' or 'g store-reset '
end

local function live(q, id)
  local claim = find(q, id)
  return claim and claim.expires > now and claim
end

-- The claim leaves the queue, and its permits are free for the next.
local function depart(q, claim)
  remove(q, claim)
  if not claim.admitted then return settle(q) end
  settle(q, endingOf(claim.sealed), claim.number)
end

local function send(address, letter)
  local _, _, prefix = settings()
  call('PUBLISH', prefix .. address, letter)
end

-- The messages, by address. It comes before any write, since it finds dead claims.
local function lettersOf(q)
  local letters = {}
  for _, claim in ipairs(q.tell) do
    -- A reason may have several lines.
    local there = q.claims[claim.id] and not claim.sealed
    local line = claim.tag .. ' ' .. (there and status(q, claim) or '?')
    local letter = letters[claim.address]
    letters[claim.address] = letter and letter .. '\n' .. line or line
  end
  return letters
end

-- In parts, since Lua passes no more than 8,000.
local function pass(verb, key, list)
  for i = 1, #list, 1000 do call(verb, key, unpack(list, i, math.min(i + 999, #list))) end
end

local function keepQueue(q)
  local head, key = q.head, q.key
  forget(head)
  if head.buriedTo and head.buriedTo <= now then head.buriedTo = nil end
  local idle = head.count + head.waiters == 0 and not head.ended
  -- Once the key has expired, a number ahead of the clock would be given again.
  if head.last > highest and (idle or head.last > micros) then
    highest, write = head.last, true
  end
  if idle and not head.buriedTo then return call('DEL', key) end
  if q.text then
    call('DEL', key)
  elseif #q.left > 0 then
    pass('HDEL', key, q.left)
  end
  local keepTo = math.max(head.buriedTo or 0, now)
  local fields = {}
  for id in pairs(q.dirty) do
    local claim = q.claims[id]
    fields[#fields + 1], fields[#fields + 2] = id, pack(claim)
    if claim.waits then fields[#fields + 1], fields[#fields + 2] = claim.place, id end
    keepTo = math.max(keepTo, claim.expires)
  end
  for _, id in ipairs(q.buried) do
    local there = q.graves[id]
    fields[#fields + 1], fields[#fields + 2] = 'T' .. id, pack(there)
    fields[#fields + 1], fields[#fields + 2] = 'T' .. there.place, id
  end
  local late = idle or q.text or keepTo + REMEMBER / 2 > head.keptTo
  if late then head.keptTo = idle and keepTo or keepTo + REMEMBER end
  fields[#fields + 1], fields[#fields + 2] = '#', pack(head)
  pass('HSET', key, fields)
  if late then call('PEXPIREAT', key, head.keptTo) end
end

-- Messages go out last: until then the write might fail.
local function save(q)
  local letters = lettersOf(q)
  if q.changed then keepQueue(q) end
  for address, letter in pairs(letters) do send(address, letter) end
end
