#!lua flags=allow-oom
-- include clock.lua
-- Leaves the queue, at once or `after` ms from now. If a copy of the claim may still come, or it
-- is not found, a tombstone stays for one TTL. ARGV for each claim, in one: its id; '-' if it
-- leaves at once and every request of it had a reply, 'u' if one had none, or 'a' if it leaves
-- later; its ttl; and, each behind a space, `after` and the secret, which only a '-' may have.
-- The end of a claim that holds alone grants nothing, so the script does not check whether data was
-- lost: the next claim does. Its number is kept, as record.lua says.
local answers, rest, gone = { now }, {}, {}
local texts = call('MGET', unpack(KEYS))
local record = texts[1]
local known = record and sub(record, 1, 1) == '1' and #record >= 83
local latest = known and sub(record, 55, 70)
local newest = latest
for i = 2, #KEYS do
  local asked, text = ARGV[i], known and texts[i]
  if text and sub(text, 1, 32) == sub(asked, 1, 32) and sub(asked, 33, 33) == '-'
    and tonumber(sub(text, 49, 61)) > now then
    local number = sub(text, 33, 48)
    if number > newest then newest = number end
    gone[#gone + 1], answers[i] = KEYS[i], 1
  else
    rest[#rest + 1] = i
  end
end
if #rest == 0 then
  if #gone > 0 then call('DEL', unpack(gone)) end
  if newest ~= latest then call('SET', KEYS[1], sub(record, 1, 54) .. newest .. sub(record, 71)) end
  return answers
end
-- Before any write, since it may refuse.
-- include record.lua
-- include functions.lua
if #gone > 0 then call('DEL', unpack(gone)) end
if newest ~= latest then highest, write = math.max(highest, tonumber(newest)), true end
-- include hand-off.lua
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
  local answer = handOff(key, asked)
  if answer then return answer end
  leave = leave or wholeQueue()
  return leave(key, asked)
end
for _, i in ipairs(rest) do
  local answer = apart(step, KEYS[i], ARGV[i])
  -- A key that is not ours holds no claim.
  answers[i] = string.find(answer, '^e WRONGTYPE') and 0 or answer
end
writeRecord()
return answers
