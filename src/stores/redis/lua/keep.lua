#!lua
-- include clock.lua
-- include record.lua
-- include functions.lua
-- include kept.lua
-- A holder keeps something. The same step checks that the claim holds, so a process that stood
-- still for longer than its lease writes nothing. The check is that of renew.lua, but extends
-- no claim.
-- KEYS after the record: the queue, the key of what is kept.
local key, id = KEYS[2], ARGV[2]
local text = call('TYPE', key).ok == 'string' and call('GET', key)
local holds = text and sub(text, 1, 32) == id and tonumber(sub(text, 49, 61)) > now
if not holds then
  -- include queue.lua
  local q = load(key)
  settle(q)
  local claim = live(q, id)
  holds = claim and sub(status(q, claim), 1, 1) == 'h'
  save(q)
end
local answer = holds and note(KEYS[3]) or 0
keep()
return { now, answer }
