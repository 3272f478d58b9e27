#!lua
-- include clock.lua
-- include record.lua
-- Enters the queue, or says where an id already in it stands. Extends no claim.
-- ARGV for each claim, in one: its id, 'q' to wait or 't' to try, and its terms. With 'a' for all,
-- either all tries hold or none enters: the queues are written once all have been tried.
-- There are three ways in, the quickest first: there is no key, so the claim holds alone, and the
-- script reads no queue; join.lua, behind others that wait; and queue.lua, which knows all cases.
local answers, rest, queues = { stamp }, {}, {}
local number = newNumber(0)
local numberText = format('%016.0f', number)
local ttl, expires, keepFor
local together = sub(ARGV[2] or '', 33, 33) == 'a'
for i = 2, #KEYS do
  if open and not together then
    local asked = ARGV[i]
    local own = string.match(asked, '^%a %d+ %d+ (%S+)', 34)
    -- Most claims of a batch have the same ttl, and formatting numbers is slow.
    if own ~= ttl then ttl, expires, keepFor = own, format('%013.0f', now + own), own + REMEMBER end
    local text = sub(asked, 1, 32) .. numberText .. expires .. sub(asked, 34)
    -- A number alone: it holds, with its whole ttl, and none waits (status-lines.ts).
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
    local function enter(q, id, asked)
      settle(q)
      local late = buried(q, id)
      if late then return late end
      local head, own = q.head, find(q, id)
      if own and (own.admitted or own.expires > now) then return status(q, own) end
      if own then remove(q, own) end
      local claim = terms(id, sub(asked, 34))
      local occupied = head.count + head.waiters > 0
      if occupied and head.kind ~= claim.kind
        and (head.kind == 'm' or head.kind == 'p' or claim.kind == 'm' or claim.kind == 'p') then
        return 'g mismatch ' .. head.kind
      end
      claim.trusts = trusts or nil
      local admitted = head.waiters == 0 and fits(q, claim)
      if not admitted and sub(asked, 33, 33) ~= 'q' then return refusal() end
      local _, maxWaiters = settings()
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
      if together then queues[key] = q else save(q) end
      return answer
    end, save
  end
  local enter, save
  local function step(key, asked)
    local answer = join(key, asked)
    if answer then return answer end
    if not enter then enter, save = wholeQueue() end
    return enter(key, asked)
  end
  for _, i in ipairs(rest) do answers[i] = apart(step, KEYS[i], ARGV[i]) end
  if together then
    local held = 0
    for i = 2, #KEYS do held = held + (sub(answers[i], 1, 1) == 'h' and 1 or 0) end
    for i = 2, #KEYS do
      if held == #KEYS - 1 then
        answers[i] = apart(save, queues[KEYS[i]]) or answers[i]
      elseif sub(answers[i], 1, 1) == 'h' then
        answers[i] = 'g refused '
      end
    end
  end
end
writeRecord()
return answers
