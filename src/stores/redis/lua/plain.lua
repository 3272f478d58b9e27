-- A lock as other programs keep it: `SET key value NX PX ttl`, and compare before delete.
--
-- Invariant: the writer of a key's value holds the lock while the key is there. Only the holder,
-- after comparing the value with its own, may overwrite, extend or delete the key. Each of our
-- steps is one script, so nothing comes between the comparison and the write. Only a new claim
-- makes a key that has gone again.
-- Others only compare the value, so ours can say more: id 32; ' ', or '!' once it may no longer be
-- renewed; number 16; and the terms as the claim brings them. A tombstone has its own key, since a
-- missing key has no room for one. What breaks it: a program that deletes or extends without
-- comparing.
-- KEYS after the record, for each claim: its key, its tombstone; to keep something: its key, the
-- key of what is kept.
-- include kept.lua
local function find(key, id)
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' or sub(value, 1, 32) ~= id then return nil end
  return value, sub(value, 33, 33) == '!'
end

local function leftOf(key)
  local left = call('PTTL', key)
  -- Another program's key that never expires: the longest duration there is.
  return left < 0 and 2147483647 or left
end

local function claim(key, tombstone, id, asked)
  local terms = sub(asked, 2)
  local permits, limit, ttl = string.match(terms, '^%a (%d+) (%d+) (%S+)')
  if permits ~= limit then error({ err = 'it lets one in at a time' }) end
  if call('EXISTS', tombstone) == 1 then return 'g unknown ' end
  local number, there = newNumber(0), nil
  if open then
    local value = id .. format(' %016.0f ', number) .. terms
    there = call('SET', key, value, 'NX', 'GET', 'PX', ttl)
    if not there then
      highest, write = number, true
      return number
    end
  else
    there = call('GET', key)
  end
  local own, sealed = find(key, id)
  if sealed then return 'g unknown ' end
  if own then return format('h %.0f %.0f 0 - - 0', sub(own, 34, 49), leftOf(key)) end
  if sub(asked, 1, 1) == 't' then return refusal() end
  if not open then return format('w %s %d - data-loss %.0f', ttl, there and 1 or 0, openAt - now) end
  return format('w %s 1 - queue %.0f', ttl, leftOf(key))
end

local function renew(key, _, id, ttl)
  local own, sealed = find(key, id)
  if sealed then return 'g unknown ' end
  if not own then return open and 'g expired ' or 'g store-reset ' end
  call('PEXPIRE', key, ttl)
  return tonumber(sub(own, 34, 49))
end

local function release(key, tombstone, id, asked)
  local how, ttl, after = string.match(asked, '^(.)(%S+) ?(%S*)$')
  after = tonumber(after) or 0
  local own, sealed = find(key, id)
  if not own or how == 'u' then call('SET', tombstone, '', 'PX', ttl + after) end
  if not own then return 0 end
  if after <= 0 then
    call('DEL', key)
    -- For other programs that listen.
    local _, _, prefix = settings()
    if prefix ~= '-' then call('PUBLISH', prefix .. key, key) end
  elseif not sealed then
    call('SET', key, id .. '!' .. sub(own, 34), 'PX', after)
  end
  return 1
end

-- The value of another's lock would open it, so it is not shown.
local function inspect(key)
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then return {} end
  local left = leftOf(key)
  local number, kind, permits, limit, ttl, holder =
    string.match(value, '^%x+[ !](%d+) (%a) (%d+) (%d+) (%d+) %S+ %S+ ({.*})$')
  if number then
    return { format('h %s %s %s %s %s %.0f %s', number, kind, permits, limit, ttl, left, holder) }
  end
  local another = '{"host":"a host unknown","pid":0,"label":"another program","since":0}'
  return { format('h 0 m 1 1 %.0f %.0f %s', left, left, another) }
end

local answers = { stamp }
if VERB == 'change' then
  for i = 2, #KEYS do answers[i] = quarantined(inspect(KEYS[i])) end
elseif VERB == 'keep' then
  local own, sealed = find(KEYS[2], ARGV[2])
  answers[2] = own and not sealed and note(KEYS[3]) or 0
else
  local step = ({ claim = claim, renew = renew, release = release })[VERB]
  for i = 2, #KEYS, 2 do
    local asked = ARGV[1 + i / 2]
    answers[#answers + 1] = apart(step, KEYS[i], KEYS[i + 1], sub(asked, 1, 32), sub(asked, 33))
  end
end
writeRecord()
return answers
