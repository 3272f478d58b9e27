-- Locks of Redisson without a queue.
--
-- Invariant: a claim of ours holds while its owner is in the lock's key, and not expired. We write
-- the owner only where Redisson's own script would write one, and extend or remove it only if it
-- is there. A step is one script, as in Redisson, so nothing comes between reading and writing.
-- Each release sends the message that wakes the waiters in Java.
-- A hash beside those keys, the notes, has the rest under the claim's id: ' ', or '!' once it may
-- no longer be renewed; number 16; and the terms as the claim brings them. A tombstone has its own
-- key. What breaks it: a program that deletes or extends without comparing.
-- KEYS after the record, six for each claim or inspection: the lock, a tombstone, the notes, the
-- end of one reader's hold, the ends of permits, the counter of tokens.
local FIELDS = { 'key', 'gone', 'notes', 'hold', 'ends', 'tokens' }

local function withTerms(c, terms)
  local letter, permits, limit, ttl = string.match(terms, '^(%a) (%d+) (%d+) (%S+)')
  c.kind, c.permits, c.limit, c.ttl = KINDS[letter], tonumber(permits), tonumber(limit), tonumber(ttl)
  return c
end

-- Whether this claim holds; if so, its number, and whether it may no longer be renewed.
local function found(c)
  local note = call('HGET', c.notes, c.id)
  if not note or withTerms(c, sub(note, 18)).kind.left(c) <= 0 then return false end
  return true, tonumber(sub(note, 2, 17)), sub(note, 1, 1) == '!'
end

-- The limit in force, if it is lower than the claim's.
local function lower(c)
  return c.inForce and c.inForce < c.limit and format('%.0f', c.inForce) or '-'
end

local function claim(c, asked)
  local terms = sub(asked, 2)
  if call('EXISTS', c.gone) == 1 then return 'g unknown ' end
  local held, number, sealed = found(c)
  if sealed then return 'g unknown ' end
  if held then return format('h %.0f %.0f 0 - - 0', number, c.kind.left(c)) end
  withTerms(c, terms)
  local used, asks = inUse(c.key), c.kind.letter
  if asks == 'r' then asks = 'w' end
  if used and used ~= asks then return 'g mismatch ' .. used end
  if open and c.kind.enter(c) then
    number = newNumber(0)
    highest, write = number, true
    if FENCED then number = call('INCR', c.tokens) end
    if not used then call('DEL', c.notes) end
    call('HSET', c.notes, c.id, format(' %016.0f', number) .. terms)
    lastsFor(c.notes, c.ttl)
    if not c.inForce then return number end
    return format('h %.0f %.0f 0 %s - 0', number, c.ttl, lower(c))
  end
  if sub(asked, 1, 1) == 't' then return refusal() end
  local limit = lower(c)
  if not open then
    return format('w %.0f %d %s data-loss %.0f', c.ttl, used and 1 or 0, limit, openAt - now)
  end
  local left = leftOf(c.key)
  if c.inForce then
    local first = call('ZRANGE', c.ends, 0, 0, 'WITHSCORES')[2]
    left = first and math.max(0, first - now) or 2147483647
  end
  return format('w %.0f 1 %s queue %.0f', c.ttl, limit, math.min(left, 2147483647))
end

local function renew(c, ttl)
  local held, number, sealed = found(c)
  if sealed then return 'g unknown ' end
  if not held then return open and 'g expired ' or 'g store-reset ' end
  c.kind.last(c, tonumber(ttl))
  lastsFor(c.notes, tonumber(ttl))
  return number
end

local function release(c, asked)
  local how, ttl, after = string.match(asked, '^(.)(%S+) ?(%S*)$')
  after = tonumber(after) or 0
  local held, number, sealed = found(c)
  if not held or how == 'u' then call('SET', c.gone, '', 'PX', ttl + after) end
  if not held then return 0 end
  if after <= 0 then
    c.kind.leave(c)
    call('HDEL', c.notes, c.id)
  elseif not sealed then
    c.kind.last(c, after)
    call('HSET', c.notes, c.id, '!' .. sub(call('HGET', c.notes, c.id), 2))
    lastsFor(c.notes, after)
  end
  return 1
end

-- A writer of ours lets other readers in.
local function downgrade(c)
  c.hold = holdOf(c.key, c.owner)
  local held, number, sealed = found(c)
  if sealed then return 'g unknown ' end
  if not held then return open and 'g expired ' or 'g store-reset ' end
  local left = c.kind.left(c)
  if c.kind == writer then
    becomeReader(c, left)
    local note = call('HGET', c.notes, c.id)
    call('HSET', c.notes, c.id, sub(note, 1, 17) .. string.gsub(sub(note, 18), '^w %d+', 'r 1'))
  end
  return format('h %.0f %.0f 0 - - 0', number, left)
end

-- Our claims as they described themselves; and our owners and permits, to tell them from others.
local function ours(first)
  local lines, known = {}, {}
  local notes = call('HGETALL', first.notes)
  for i = 1, #notes, 2 do
    local c = claimAt(FIELDS, 2, notes[i])
    c.hold = holdOf(c.key, c.owner)
    local number, terms = tonumber(sub(notes[i + 1], 2, 17)), sub(notes[i + 1], 18)
    local left = withTerms(c, terms).kind.left(c)
    if left > 0 then
      lines[#lines + 1] = described('h', number, terms, left)
      known[c.owner], known[c.owner .. ':write'] = true, true
      for n = 1, c.kind == permit and c.permits or 0 do known[memberOf(c.id, n)] = true end
    end
  end
  return lines, known
end

local function inspect(first)
  local used = inUse(first.key)
  if not used then return quarantined({}) end
  local lines, known = ours(first)
  if used == 'p' then
    local all = call('GET', first.key) + call('ZCARD', first.ends)
    local members = call('ZRANGEBYSCORE', first.ends, now, '+inf', 'WITHSCORES')
    for i = 1, #members, 2 do
      if not known[members[i]] then
        local what = format('p 1 %.0f', all)
        lines[#lines + 1] = another('h', what, members[i + 1] - now, 'permit')
      end
    end
    return quarantined(lines)
  end
  for _, owner in ipairs(call('HKEYS', first.key)) do
    if owner ~= 'mode' and not known[owner] then
      local what = 'm 1 1'
      if used == 'w' then
        local writes = sub(owner, -6) == ':write'
        what = writes and 'w 1073741824 1073741824' or 'r 1 1073741824'
      end
      lines[#lines + 1] = another('h', what, leftOf(first.key), owner)
    end
  end
  return quarantined(lines)
end

return serve(FIELDS, {
  claim = claim, renew = renew, release = release, downgrade = downgrade, inspect = inspect,
})
