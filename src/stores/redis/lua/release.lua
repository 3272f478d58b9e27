#!lua flags=allow-oom
-- include record.lua
-- Leaves the queue, at once or `after` ms from now. Where a copy of the claim may still come, or
-- nothing is found, a tombstone stays for one TTL. ARGV for each claim, in one: its id, '-' if this is
-- all or 'u' if it was ever unanswered or 'a', its ttl, and `after` behind a space.
local answers, rest = { now }, {}
for i = 2, #KEYS do
  local asked = ARGV[ARGS + i - 1]
  local text = sub(asked, 33, 33) == '-' and call('TYPE', KEYS[i]).ok == 'string' and call('GET', KEYS[i])
  if text and sub(text, 1, 32) == sub(asked, 1, 32) and tonumber(sub(text, 49, 61)) > now then
    local number = tonumber(sub(text, 33, 48))
    call('DEL', KEYS[i])
    if number > highest then highest, write = number, true end
    answers[i] = 1
  else
    rest[#rest + 1] = i
  end
end
if #rest > 0 then
  -- include queue.lua
  local function leave(key, id, ttl, after, unanswered)
    local q = load(key)
    settle(q)
    local claim = live(q, id)
    if not claim or unanswered then bury(q, id, ttl, 'unknown') end
    if claim and (after <= 0 or not claim.admitted) then
      depart(q, claim)
    elseif claim and not claim.sealed then
      claim.sealed, claim.expires = 'unknown', now + after
      q.queue.death = math.min(q.queue.death, claim.expires)
      q.dirty[id], q.changed = true, true
    end
    save(q)
    return claim and 1 or 0
  end
  for _, i in ipairs(rest) do
    local asked = ARGV[ARGS + i - 1]
    local ttl, after = string.match(asked, '^(%S+) ?(%S*)$', 34)
    answers[i] = apart(function()
      local unanswered = sub(asked, 33, 33) == 'u'
      return leave(KEYS[i], sub(asked, 1, 32), ttl, tonumber(after) or 0, unanswered)
    end)
    -- What is none of ours holds no claim.
    if string.find(answers[i], '^e WRONGTYPE') then answers[i] = 0 end
  end
end
keep()
return answers
