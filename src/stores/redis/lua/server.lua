#!lua
-- include clock.lua
SERVER = true
-- include record.lua
-- include functions.lua
-- Answers, for the record of a slot, when its server may have lost something: the moment, and the
-- state that must still hold when that script runs. The record, KEYS[1], is in the server's lowest
-- slot, so all programs find the same one.
writeRecord()
return { now, format('%.0f%s:%s', openAt - maxTtl, sub(tail, -1), state) }
