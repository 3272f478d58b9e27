#!lua flags=allow-oom
-- include clock.lua
-- Leaves the queue, at once or `after` ms from now. If a copy of the claim may still come, or it
-- is not found, a tombstone stays for one TTL. ARGV for each claim, in one: its id; '-' if it
-- leaves at once and every request of it had a reply, 'u' if one had none, or 'a' if it leaves
-- later; its ttl; and, each behind a space, `after` and the secret, which only a '-' may have.
local answers, rest, gone = { now }, {}, {}
local texts = call('MGET', unpack(KEYS))
record = texts[1]
local known = record and sub(record, 1, 1) == '1' and #record >= 84
for i = 2, #KEYS do
  local asked, text = ARGV[i], known and texts[i]
  if text and sub(text, 1, 32) == sub(asked, 1, 32) and sub(asked, 33, 33) == '-'
    and tonumber(sub(text, 49, 61)) > now then
    gone[#gone + 1], answers[i] = KEYS[i], 1
  else
    rest[#rest + 1] = i
  end
end
if #rest == 0 then
  if #gone > 0 then call('DEL', unpack(gone)) end
  return answers
end
-- include functions.lua
local function answerTo(i, step)
  local answer = apart(step, KEYS[i], ARGV[i])
  -- A key that is not ours holds no claim.
  return answer and string.find(answer, '^e WRONGTYPE') and 0 or answer
end
-- include hand-off.lua
local passed
if known and #KEYS == 2 then
  openAt, highest = tonumber(sub(record, 42, 54)), tonumber(sub(record, 55, 70))
  over = now >= openAt
  local unseen = micros - highest
  if unseen >= 0 and unseen <= 1000 * math.min(1000, tonumber(sub(record, 71, 83))) then
    passed = answerTo(2, handOff)
    if passed then return { now, passed } end
  end
end
-- Before any write, since it may refuse.
-- include record.lua
if #gone > 0 then call('DEL', unpack(gone)) end
-- Long, so it is made only when needed.
local function wholeQueue()
  -- include queue.lua
  return function(key, asked)
    local id, unanswered = sub(asked, 1, 32), sub(asked, 33, 33) == 'u'
    local ttl, after = string.match(asked, '^(%S+) ?(%S*)', 34)
    after = tonumber(after) or 0
    local q = load(key)
    settle(q)
    local claim = live(q, id)
    if not claim or unanswered then bury(q, id, ttl, 'unknown') end
    if claim and (after <= 0 or not claim.admitted) then
      depart(q, claim)
    elseif claim and not claim.sealed then
      claim.sealed, claim.expires = 'unknown', now + after
      q.head.number = nil
      q.head.death = math.min(q.head.death, claim.expires)
      q.dirty[id], q.changed = true, true
      -- The first waiter must ask at another time.
      local first = front(q)
      if first then tell(q, first) end
    end
    save(q)
    return claim and 1 or 0
  end
end
local leave
local function step(key, asked)
  if passed == nil and handOff(key, asked, true) then return 1 end
  leave = leave or wholeQueue()
  return leave(key, asked)
end
for _, i in ipairs(rest) do answers[i] = answerTo(i, step) end
writeRecord()
return answers
