-- The verbs on a fair lock (line.lua).
-- KEYS after the record, for each claim or inspection: the lock, a tombstone, the notes, the list
-- of waiters, their ends.
local FIELDS = { 'key', 'gone', 'notes', 'queue', 'scores' }

local function status(q, claim)
  if claim.state == '!' then return 'g unknown ' end
  local left = leftOf(q.key)
  if not waits(claim) then
    return format('h %.0f %.0f %d - - 0', claim.number, left, #q.line)
  end
  local place, lives = placeOf(q, claim), claim.ends - now
  if not over and claim.state == 'w' then
    return format('w %.0f %d - data-loss %.0f', lives, place, openAt - now)
  end
  local before = q.line[place - 1]
  local retry = left > 0 and left or 2147483647
  if before then
    local ends = before.claim and before.claim.ends or before.ends
    retry = math.min(retry, math.max(0, ends - now))
  end
  local ahead = place - (left > 0 and 0 or 1)
  return format('w %.0f %d - queue %.0f', lives, ahead, math.min(retry, 2147483647))
end

-- Wakes an admitted claim, a new first waiter, and a first waiter in Java if the lock is free.
local function notify(q, own)
  local first = q.line[1]
  if q.admitted and q.admitted.owner ~= own then hint(q.admitted, status(q, q.admitted)) end
  if not first or first.owner == own then return end
  if first.claim then
    if first.owner ~= q.first then hint(first.claim, '?') end
  elseif call('EXISTS', q.key) == 0 then
    wake(q, first.owner)
  end
end

-- The kind of the holder or the waiters; in Java all are mutexes.
local function kindOf(q)
  local one = q.holder or q.line[1] and q.line[1].claim
  return one and sub(one.terms, 1, 1) or 'm'
end

local function enter(q, c, asked)
  local try, terms = sub(asked, 1, 1) == 't', sub(asked, 2)
  local free = #q.line == 0 and call('EXISTS', q.key) == 0
  if not free and sub(terms, 1, 1) ~= kindOf(q) then return 'g mismatch ' .. kindOf(q) end
  if try and not (free and open) then return refusal() end
  local _, maxWaiters = settings()
  if not (free and open) and #q.line >= tonumber(maxWaiters) then
    return 'g full maxWaiters is ' .. maxWaiters
  end
  local claim = claimOf(c.id, format('%s%.0f 0 %s', trusts and 't' or 'w', newNumber(0), terms))
  claim.ends = now + claim.ttl
  highest, write = claim.number, true
  if free and open then
    hold(q, claim)
  else
    local last = q.line[#q.line]
    local base = last and last.ends or now + call('PTTL', q.key)
    q.ours[claim.owner] = claim
    insert(q, #q.line + 1, claim, base + claim.ttl)
    save(q, claim)
    if not last and q.holder then hint(q.holder, '?') end
  end
  return status(q, claim)
end

local function claim(c, asked)
  if call('EXISTS', c.gone) == 1 then return 'g unknown ' end
  local used = inUse(c.key)
  if used and used ~= 'm' then return 'g mismatch ' .. used end
  local q, own = load(c)
  local answer = own and status(q, own) or enter(q, c, asked)
  notify(q, c.owner)
  return answer
end

local function renew(c, ttl)
  local q, own = load(c)
  if own and own.state ~= '!' then
    own.ends = now + ttl
    if waits(own) then prolong(q, own) else call('PEXPIRE', q.key, ttl) end
    save(q, own)
  end
  local answer = own and status(q, own) or open and 'g expired ' or 'g store-reset '
  notify(q, c.owner)
  return answer
end

local function release(c, asked)
  local how, ttl, after = string.match(asked, '^(.)(%S+) ?(%S*)$')
  after = tonumber(after) or 0
  local q, own = load(c)
  if not own or how == 'u' then call('SET', c.gone, '', 'PX', ttl + after) end
  if own and not waits(own) and after > 0 then
    if own.state ~= '!' then
      own.state = '!'
      call('PEXPIRE', q.key, after)
      save(q, own)
      -- The first waiter must ask at another time.
      local first = q.line[1]
      if first and first.claim then hint(first.claim, '?') elseif first then wake(q, first.owner) end
    end
  elseif own then
    if waits(own) then remove(q, placeOf(q, own), own.ttl) else call('DEL', q.key) end
    call('HDEL', q.notes, own.id)
    settle(q)
  end
  notify(q, c.owner)
  return own and 1 or 0
end

local function inspect(c)
  if inUse(c.key) ~= nil and inUse(c.key) ~= 'm' then return quarantined({}) end
  local q, lines = load(c), {}
  for _, owner in ipairs(call('HKEYS', q.key)) do
    local claim, left = q.ours[owner], leftOf(q.key)
    lines[#lines + 1] = claim and described('h', claim.number, claim.terms, left)
      or another('h', 'm 1 1', left, owner)
  end
  for _, waiter in ipairs(q.line) do
    local claim = waiter.claim
    lines[#lines + 1] = claim and described('w', claim.number, claim.terms, claim.ends - now)
      or another('w', 'm 1 1', waiter.ends - now, waiter.owner)
  end
  notify(q, '')
  return quarantined(lines)
end

return serve(FIELDS, { claim = claim, renew = renew, release = release, inspect = inspect })
