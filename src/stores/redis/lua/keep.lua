#!lua
-- include clock.lua
-- include record.lua
-- include functions.lua
-- include queue.lua
-- include kept.lua
-- A holder keeps something. The same step checks that the claim holds, so a process that stood
-- still for longer than its lease writes nothing. The check is that of renew.lua, but extends
-- no claim.
-- KEYS after the record: the queue, the key of what is kept.
local q = load(KEYS[2])
settle(q)
local claim = live(q, ARGV[2])
local holds = claim and sub(status(q, claim), 1, 1) == 'h'
save(q)
local answer = holds and note(KEYS[3]) or 0
writeRecord()
return { now, answer }
