#!lua
-- include clock.lua
SERVER = true
-- include record.lua
-- include functions.lua
-- When a server of a cluster may have lost something, for the record of one of its slots: the
-- moment, and what must still be so when that script runs. The record, KEYS[1], is in the lowest
-- slot that the server has, so that all programs find the same one.
keep()
return { now, format('%.0f%s:%s', openAt - maxTtl, sub(tail, -1), state) }
