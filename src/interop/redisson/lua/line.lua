-- RFairLock: the waiters of both sides stand in one queue.
--
-- Invariant: only the first in the queue gets the lock; a newcomer gets it only if it is free and
-- the queue is empty. Redisson's own script gives it to a waiter that asks; ours also gives it to
-- the first waiter if that is a claim of ours, and writes what Redisson's would. An owner is in the
-- list if it is in the sorted set: Redisson never passes over a first waiter without an end.
-- Redisson takes a waiter for dead once it is first and its end in the sorted set has come. That
-- end is reckoned from the waiter before it, and moves back whenever a waiter gets the lock, so a
-- lock that is held for long outlives the waiters. A waiter of ours lives by the end in its own
-- note. Its heartbeat extends that end, and those of the waiters behind it. If Redisson has
-- meanwhile taken it for dead, the heartbeat puts it back in its place, before all that were behind
-- it.
-- What breaks it: clocks in Java that are ahead make its waiters seem dead to each other.
-- A note says 'w' for a waiter, 't' if its program trusts, ' ' for a holder, '!' once it may no
-- longer be renewed; then its number, when it ends as a waiter, and its terms.

-- Redisson's message to one waiter.
local function wake(q, owner)
  tell('redisson_lock__channel:' .. braced(q.key) .. ':' .. owner, '0')
end

-- A message to a claim of ours; its terms say where it listens.
local function hint(claim, news)
  local address, tag = string.match(claim.terms, '^%a %d+ %d+ %d+ (%S+) (%S+)')
  local _, _, prefix = settings()
  if address ~= '-' then call('PUBLISH', prefix .. address, tag .. ' ' .. news) end
end

local function waits(claim)
  return claim.state == 'w' or claim.state == 't'
end

local function claimOf(id, note)
  local state, number, ends, terms = string.match(note, '^(.)(%d+) (%d+) (.*)$')
  if not state then return nil end
  local ttl = tonumber(string.match(terms, '^%a %d+ %d+ (%d+)'))
  local claim = { id = id, owner = ownerOf(id), state = state, terms = terms, ttl = ttl }
  claim.number, claim.ends = tonumber(number), tonumber(ends)
  return claim
end

local function save(q, claim)
  local note = format('%s%.0f %.0f %s', claim.state, claim.number, claim.ends, claim.terms)
  call('HSET', q.notes, claim.id, note)
  -- As long as any end in the queue: without its note, our dead waiter would pass for one in Java.
  local last = tonumber(call('ZRANGE', q.scores, -1, -1, 'WITHSCORES')[2] or 0)
  lastsFor(q.notes, math.max(claim.ends, last, now + leftOf(q.key)) - now)
end

-- Takes out the waiter at this place. As in Redisson, the ends behind it come earlier by its `ttl`,
-- unless it is taken for dead.
local function remove(q, place, ttl)
  local waiter = table.remove(q.line, place)
  call('LREM', q.queue, 1, waiter.owner)
  call('ZREM', q.scores, waiter.owner)
  for i = place, ttl and #q.line or 0 do call('ZINCRBY', q.scores, -ttl, q.line[i].owner) end
end

-- Puts a claim of ours at this place, for as long as it lives.
local function insert(q, place, claim, ends)
  local behind = q.line[place]
  if behind then
    call('LINSERT', q.queue, 'BEFORE', behind.owner, claim.owner)
  else
    call('RPUSH', q.queue, claim.owner)
  end
  ends = math.max(ends, claim.ends)
  call('ZADD', q.scores, format('%.0f', ends), claim.owner)
  table.insert(q.line, place, { owner = claim.owner, ends = ends, claim = claim })
end

-- The heartbeat of a waiter also extends those behind it, whose ends are reckoned from its own.
local function prolong(q, claim)
  for place, waiter in ipairs(q.line) do
    if waiter.claim == claim and waiter.ends < claim.ends then
      local more = format('%.0f', claim.ends - waiter.ends)
      for i = place, #q.line do call('ZINCRBY', q.scores, more, q.line[i].owner) end
    end
  end
end

local function placeOf(q, claim)
  for place, waiter in ipairs(q.line) do
    if waiter.claim == claim then return place end
  end
end

-- Reads our living claims, by owner; returns the waiters no longer in the queue.
local function read(q)
  local notes, dead, missing = call('HGETALL', q.notes), {}, {}
  for i = 1, #notes, 2 do
    local claim = claimOf(notes[i], notes[i + 1])
    if claim and waits(claim) and claim.ends > now then
      q.ours[claim.owner], missing[claim.owner] = claim, claim
    elseif claim and not waits(claim) and call('HEXISTS', q.key, claim.owner) == 1 then
      q.ours[claim.owner], q.holder = claim, claim
    elseif claim then
      dead[claim.owner] = true
      call('HDEL', q.notes, claim.id)
    end
  end
  local owners = call('LRANGE', q.queue, 0, -1)
  local scores, ends = call('ZRANGE', q.scores, 0, -1, 'WITHSCORES'), {}
  for i = 1, #scores, 2 do ends[scores[i]] = tonumber(scores[i + 1]) end
  q.first = owners[1]
  for _, owner in ipairs(owners) do
    local claim = q.ours[owner]
    missing[owner] = nil
    q.line[#q.line + 1] = { owner = owner, ends = ends[owner] or 0, claim = claim }
    local late = not claim and #q.line == 1 and q.line[1].ends <= now
    if late or dead[owner] then remove(q, #q.line) end
  end
  return missing
end

local function hold(q, claim)
  claim.state = ' '
  q.ours[claim.owner], q.holder = claim, claim
  call('HSET', q.key, claim.owner, 1)
  call('PEXPIRE', q.key, claim.ends - now)
  save(q, claim)
end

-- If the lock is free, the first waiter gets it.
local function settle(q)
  local first = q.line[1]
  if not first or call('EXISTS', q.key) == 1 then return end
  local claim = first.claim
  if claim and (over or claim.state == 't') then
    remove(q, 1, claim.ttl)
    hold(q, claim)
    q.admitted = claim
  end
end

local function load(c)
  local q = { key = c.key, notes = c.notes, queue = c.queue, scores = c.scores, ours = {}, line = {} }
  local missing = {}
  for _, claim in pairs(read(q)) do missing[#missing + 1] = claim end
  table.sort(missing, function(one, other) return one.number < other.number end)
  for _, claim in ipairs(missing) do
    local place = 1
    while q.line[place] and q.line[place].claim and q.line[place].claim.number < claim.number do
      place = place + 1
    end
    insert(q, place, claim, claim.ends)
  end
  settle(q)
  return q, q.ours[c.owner]
end
