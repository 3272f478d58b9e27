#!lua
-- include clock.lua
-- include record.lua
-- Enters the queue, or says where an id already in it stands. Extends no claim.
-- ARGV for each claim, in one: its id; 'q' to wait, 't' to try, 'r' to replace those that wait, or
-- 'R' also those that hold; and its terms.
-- There are three ways in, the quickest first: there is no key, so the claim holds alone, and the
-- script reads no queue; join.lua, behind others that wait; and queue.lua, which knows all cases.
local answers, rest = { stamp }, {}
local number = newNumber(0)
local numberText = format('%016.0f', number)
local ttl, expires, keepFor
for i = 2, #KEYS do
  if open then
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
      if not admitted and way == 't' then return refusal() end
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
    return function(key, asked)
      local q = load(key)
      q.asking = sub(asked, 1, 32)
      local answer = enter(q, q.asking, asked)
      save(q)
      return answer
    end
  end
  local enter
  local function step(key, asked)
    local answer = join(key, asked)
    if answer then return answer end
    enter = enter or wholeQueue()
    return enter(key, asked)
  end
  for _, i in ipairs(rest) do answers[i] = apart(step, KEYS[i], ARGV[i]) end
end
writeRecord()
return answers
