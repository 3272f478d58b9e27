-- Keeps a text about what the claim holds, replacing the one before; 0 ms forgets it. The text has
-- its own key, begins with the layout and expires by itself: no queue knows of it.
-- ARGV: the id of the claim, how many ms to keep it, the text.
local function note(kept)
  local ms = ARGV[3]
  if ms == '0' then
    call('DEL', kept)
  else
    call('SET', kept, '1' .. ARGV[4], 'PX', ms)
  end
  return 1
end
