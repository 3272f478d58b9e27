#!lua flags=allow-oom
-- include clock.lua
-- include record.lua
-- include functions.lua
-- include queue.lua
-- The rarer verbs, and looks at several queues. ARGV: the verb and its arguments.
local verbs, q = {}

function verbs.downgrade(id)
  local claim = live(q, id)
  if not claim then return missing(q, id) end
  if claim.kind == 'w' and claim.admitted and not claim.sealed then
    q.head.used = q.head.used - claim.permits + 1
    claim.kind, claim.permits = 'r', 1
    q.dirty[id], q.changed = true, true
    q.asking = id
    settle(q)
  end
  return status(q, claim)
end

function verbs.raise(id, number)
  number = tonumber(number)
  if number > LATEST then return 'e numbers here end before 2^52' end
  local claim = live(q, id)
  if not claim then return missing(q, id) end
  if claim.admitted and number > claim.number then
    claim.number = number
    q.head.raised = math.max(q.head.raised or 0, number)
    q.head.last = math.max(q.head.last, number)
    q.dirty[id], q.changed = true, true
  end
  return status(q, claim)
end

function verbs.evict(number, reason, when)
  for _, claim in ipairs(all(q)) do
    if claim.number == tonumber(number) then
      if when == 'waiting' and claim.admitted then return 0 end
      -- One that was released ends by itself, as released.
      if claim.sealed == 'unknown' and when ~= 'now' then return 1 end
      claim.sealed, claim.detail = 'evicted', reason
      q.head.number = nil
      q.dirty[claim.id], q.changed = true, true
      if claim.address ~= '-' then q.evicted = claim end
      if when == 'now' or not claim.admitted then
        bury(q, claim.id, claim.ttl, 'evicted', reason)
        depart(q, claim)
      end
      return 1
    end
  end
  return 0
end

-- Passes a hold from one id to the other: it is taken or else given. After a loss of data, another
-- may have taken it already, and hold.
function verbs.handOver(from, to, how, words)
  local claim, passed, takes = live(q, from), live(q, to), how == 'take'
  local late = passed and status(q, passed) or buried(q, to)
  if late then return late end
  if takes and claim and not open then return 'g store-reset ' end
  if not claim then return missing(q, from) end
  if not claim.admitted or claim.sealed ~= (takes and 'handed-over' or nil) then
    return claim.sealed and status(q, claim) or 'g unknown '
  end
  q.claims[from], q.dirty[from], q.left[#q.left + 1] = false, nil, from
  q.claims[to], q.dirty[to], q.changed = claim, true, true
  local ttl, address, tag, holder = string.match(words, '^(%d+) (%S+) (%S+) (.*)$')
  claim.id, claim.ttl, claim.expires = to, tonumber(ttl), now + ttl
  claim.address, claim.tag, claim.holder, claim.ended = address, tag, holder, nil
  claim.sealed = not takes and 'handed-over' or nil
  local head = q.head
  if head.count == 1 then
    head.only, head.death, head.number = to, claim.expires, takes and claim.number or nil
  else
    head.death = math.min(head.death, claim.expires)
  end
  bury(q, from, claim.ttl, takes and 'resumed' or 'unknown')
  return status(q, claim)
end

function verbs.inspect()
  local members = {}
  for _, claim in ipairs(all(q)) do
    if claim.expires > now then
      members[#members + 1] = format('%s %.0f %s %.0f %.0f %.0f %.0f %s',
        claim.admitted and 'h' or 'w', claim.number, claim.kind, claim.permits, claim.limit,
        claim.ttl, claim.expires - now, claim.holder)
    end
  end
  return quarantined(members)
end

local function step(key)
  q = load(key)
  settle(q)
  local answer = verbs[ARGV[2]](unpack(ARGV, 3))
  save(q)
  if q.evicted then send(q.evicted.address, q.evicted.tag .. ' ?') end
  return answer
end
local answers = { stamp }
for i = 2, #KEYS do answers[i] = apart(step, KEYS[i]) end
writeRecord()
return answers
