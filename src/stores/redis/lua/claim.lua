#!lua
-- include clock.lua
-- include record.lua
-- Enters the queue, or says where an id already in it stands. Extends no claim.
-- ARGV for each claim, in one: its id; 'q' to wait, 't' to try, 'r' to replace those that wait, or
-- 'R' also those that hold; and its terms. With 'a' for all, either all tries hold or none enters:
-- each is made on a copy of its queue, and the copies are written once no try is refused.
-- There are three ways in, the quickest first: there is no key, so the claim holds alone, and the
-- script reads no queue; join.lua, behind others that wait; and queue.lua, which knows all cases.
local answers, rest = { stamp }, {}
local number = newNumber(0)
local numberText = format('%016.0f', number)
local ttl, expires, keepFor
local together = ARGV[2] and sub(ARGV[2], 33, 33) == 'a'
local free = open and not (together and call('EXISTS', unpack(KEYS, 2)) > 0)
for i = 2, #KEYS do
  if free then
    local asked = ARGV[i]
    local own = string.match(asked, '^%a %d+ %d+ (%S+)', 34)
    -- Most claims of a batch have the same ttl, and formatting numbers is slow.
    if own ~= ttl then ttl, expires, keepFor = own, format('%013.0f', now + own), own + REMEMBER end
    local text = sub(asked, 1, 32) .. numberText .. expires .. sub(asked, 34)
    if call('SET', KEYS[i], text, 'NX', 'PX', keepFor) then answers[i] = number end
  end
  if not answers[i] then rest[#rest + 1] = i end
end
if #rest == 0 and not write then
  call('SETRANGE', KEYS[1], 54, numberText)
  return answers
end
if #rest < #KEYS - 1 then highest, write = number, true end
-- include functions.lua
if #rest > 0 then
  -- include join.lua
  -- Long, so it is made only when needed.
  local function wholeQueue()
    -- include queue.lua
    -- Ends the claims that a newer one replaces (newest.ts), if that one has room then.
    local function replace(q, way, maxWaiters)
      local older, waiters = {}, q.head.waiters
      for _, claim in ipairs(all(q)) do
        local marked = string.find(claim.holder, '"mark":"replaceable"', 1, true)
        if marked and not claim.sealed and (way == 'R' or not claim.admitted) then
          older[#older + 1] = claim
          if not claim.admitted then waiters = waiters - 1 end
        end
      end
      if waiters >= maxWaiters then return end
      for _, claim in ipairs(older) do
        claim.sealed, q.changed = 'replaced', true
        tell(q, claim)
        if claim.admitted then
          q.head.number, q.dirty[claim.id] = nil, true
        else
          bury(q, claim.id, claim.ttl, 'replaced')
          remove(q, claim)
        end
      end
      settle(q)
    end
    local function enter(q, id, asked)
      local late = buried(q, id)
      if late then
        settle(q)
        return late
      end
      local own = find(q, id)
      if own and own.expires <= now and not own.admitted then remove(q, own) end
      settle(q)
      local head = q.head
      own = find(q, id)
      if own then return status(q, own) end
      local claim = terms(id, sub(asked, 34))
      local occupied = head.count + head.waiters > 0
      if occupied and head.kind ~= claim.kind
        and (head.kind == 'm' or head.kind == 'p' or claim.kind == 'm' or claim.kind == 'p') then
        return 'g mismatch ' .. head.kind
      end
      claim.trusts = trusts or nil
      local way, admitted = sub(asked, 33, 33), head.waiters == 0 and fits(q, claim)
      if not admitted and (way == 't' or way == 'a') then return refusal() end
      local _, maxWaiters = settings()
      if not admitted and way ~= 'q' then
        replace(q, way, tonumber(maxWaiters))
        admitted = head.waiters == 0 and fits(q, claim)
      end
      if not admitted and head.waiters >= tonumber(maxWaiters) then
        return 'g full maxWaiters is ' .. maxWaiters
      end
      claim.number, claim.expires, claim.place = newNumber(head.last), now + claim.ttl, head.next
      head.last, head.next, head.kind = claim.number, head.next + 1, claim.kind
      q.claims[id], q.dirty[id], q.changed = claim, true, true
      if admitted then
        head.first = head.next
        admit(q, claim)
      else
        claim.waits = true
        head.waiters = head.waiters + 1
        q.ids[claim.place], head.newest = id, id
        if head.waiters == 1 then
          head.first, head.told = claim.place, claim.place
          head.fore = claim.expires
          for _, holder in ipairs(holders(q)) do tell(q, holder) end
        end
      end
      return status(q, claim)
    end
    local copies = {}
    local function saveAll()
      local held = true
      for i = 2, #KEYS do held = held and sub(answers[i], 1, 1) == 'h' end
      for i = 2, #KEYS do
        local q = copies[KEYS[i]]
        if held then
          answers[i] = apart(save, q) or answers[i]
        elseif q and not q.known and sub(answers[i], 1, 1) == 'h' then
          answers[i] = refusal()
        end
      end
    end
    return function(key, asked)
      local id, q = sub(asked, 1, 32), load(key)
      q.asking, q.known = id, together and live(q, id)
      local answer = enter(q, id, asked)
      if together then copies[key] = q else save(q) end
      return answer
    end, saveAll
  end
  local enter, saveAll
  local function step(key, asked)
    local answer = not together and join(key, asked)
    if answer then return answer end
    if not enter then enter, saveAll = wholeQueue() end
    return enter(key, asked)
  end
  for _, i in ipairs(rest) do answers[i] = apart(step, KEYS[i], ARGV[i]) end
  if together then saveAll() end
end
writeRecord()
return answers
