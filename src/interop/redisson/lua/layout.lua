-- Common to all locks of Redisson: names, owners, messages, and how a batch is served.
-- Its owners are `uuid:number`; ours is made from a claim's id. A lock in use always has an end, or
-- a waiter in Java would sleep for ever.
local function braced(key)
  return string.find(key, '{', 1, true) and key or '{' .. key .. '}'
end

local function ownerOf(id)
  local uuid = { sub(id, 1, 8), sub(id, 9, 12), sub(id, 13, 16), sub(id, 17, 20), sub(id, 21) }
  return table.concat(uuid, '-') .. ':1'
end

-- The key whose end is that of a reader's hold.
local function holdOf(key, owner)
  return braced(key) .. ':' .. owner .. ':rwlock_timeout:1'
end

-- In a cluster each slot has a record, named with braces, and Redisson uses sharded channels.
local PUBLISH = string.find(KEYS[1], '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
local function tell(channel, message)
  call(PUBLISH, channel, message)
end

local function leftOf(key)
  local left = call('PTTL', key)
  -- A key without an end: the longest duration there is.
  if left == -1 then return 2147483647 end
  -- A key keeps others out until its last millisecond is over.
  return left == 0 and 1 or left
end

-- Extends a key, but never shortens it; a new key has no end yet.
local function lastsFor(key, ttl)
  call('PEXPIRE', key, math.max(call('PTTL', key), ttl))
end

-- The kind in use under this name, as its letter.
local function inUse(key)
  local kind = call('TYPE', key).ok
  if kind == 'hash' then return call('HEXISTS', key, 'mode') == 1 and 'w' or 'm' end
  return kind == 'string' and 'p' or nil
end

-- A holder or waiter in Java, as `inspect` shows it.
local function another(state, what, left, owner)
  local label = string.gsub('Redisson ' .. owner, '[^%w: -]', '?')
  local holder = '{"host":"a host unknown","pid":0,"label":"' .. label .. '","since":0}'
  left = math.min(math.max(left, 0), 2147483647)
  return format('%s 0 %s %.0f %.0f %s', state, what, left, left, holder)
end

-- One of ours, as it described itself.
local function described(state, number, terms, left)
  local what, holder = string.match(terms, '^(%a %d+ %d+ %d+) %S+ %S+ ({.*})$')
  return format('%s %.0f %s %.0f %s', state, number, what, left, holder)
end

-- `fields` names the keys of a claim, in order.
local function claimAt(fields, i, id)
  local c = { id = id, owner = ownerOf(id) }
  for n, field in ipairs(fields) do c[field] = KEYS[i + n - 1] end
  return c
end

-- A batch runs the verb for each claim; `change` runs `inspect` for each lock, and the like.
local function serve(fields, steps)
  local answers = { stamp }
  for i = 2, #KEYS, #fields do
    local verb, asked = VERB, ARGV[2 + (i - 2) / #fields]
    if verb == 'change' then verb, asked = ARGV[2], ARGV[3] or '' end
    local c = claimAt(fields, i, sub(asked, 1, 32))
    answers[#answers + 1] = apart(steps[verb], c, sub(asked, 33))
  end
  writeRecord()
  return answers
end
