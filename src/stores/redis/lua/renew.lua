#!lua flags=allow-oom
-- include clock.lua
-- Heartbeat and status in one. Never revives a claim. ARGV for each claim, in one: its id and
-- its ttl.
local texts = call('MGET', unpack(KEYS))
record = texts[1]
-- include record.lua
local answers, rest = { stamp }, {}
for i = 2, #KEYS do
  local asked, text = ARGV[i], texts[i]
  if text and sub(text, 1, 32) == sub(asked, 1, 32) and tonumber(sub(text, 49, 61)) > now then
    local ttl = sub(asked, 33)
    local renewed = sub(text, 1, 48) .. format('%013.0f', now + ttl) .. sub(text, 62)
    call('SET', KEYS[i], renewed, 'PX', ttl + REMEMBER)
    answers[i] = tonumber(sub(text, 33, 48))
  else
    rest[#rest + 1] = i
  end
end
if #rest == 0 and not write then return answers end
-- include functions.lua
if #rest > 0 then
  -- include queue.lua
  local function beat(key, asked)
    local id, ttl = sub(asked, 1, 32), sub(asked, 33)
    local q = load(key)
    q.asking = id
    settle(q)
    local claim = live(q, id)
    if claim and not claim.sealed then
      claim.expires = now + ttl
      q.dirty[id], q.changed = true, true
      local head = q.head
      if claim.admitted and head.count == 1 then
        head.only, head.death, head.number = id, claim.expires, claim.number
      elseif claim.admitted then
        -- Sooner, if the clock was set back.
        head.death = math.min(head.death, claim.expires)
      elseif claim.place == head.first then
        head.fore = claim.expires
      end
    end
    local answer = claim and status(q, claim) or missing(q, id)
    save(q)
    return answer
  end
  for _, i in ipairs(rest) do answers[i] = apart(beat, KEYS[i], ARGV[i]) end
end
writeRecord()
return answers
