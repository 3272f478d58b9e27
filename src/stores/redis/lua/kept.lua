-- Keeps a text about what the claim holds, in place of the one before; 0 ms forgets it. It has a
-- key of its own, whose first letter is its layout, and ends by itself: no queue knows of it.
-- ARGV: the id of the claim, for how many ms, the text.
local function note(kept)
  local ms = ARGV[ARGS + 2]
  if ms == '0' then
    call('DEL', kept)
  else
    call('SET', kept, '1' .. ARGV[ARGS + 3], 'PX', ms)
  end
  return 1
end
