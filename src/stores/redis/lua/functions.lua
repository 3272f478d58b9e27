-- Only the long ways need these: Redis makes the functions of a script anew at each call.
local pack = cmsgpack.pack
-- One element of a batch: its failure, such as a key of another program, concerns no other.
local function apart(step, ...)
  local ok, result = pcall(step, ...)
  if ok then return result end
  return 'e ' .. tostring(type(result) == 'table' and result.err or result)
end
local function refuse(key)
  error({ err = 'WRONGTYPE ' .. key .. ' is not a queue of claims' })
end
-- A field's value: a claim, a tombstone or a head. Other programs' keys have such fields, too.
local function unpacked(key, text)
  local ok, value = pcall(cmsgpack.unpack, text)
  if not ok or type(value) ~= 'table' then refuse(key) end
  return value
end
-- A new claim, from its terms.
local function terms(id, text)
  local kind, permits, limit, ttl, address, tag, holder =
    string.match(text, '^(%a) (%d+) (%d+) (%d+) (%S+) (%S+) (.*)$')
  return {
    id = id, kind = kind, permits = tonumber(permits), limit = tonumber(limit),
    ttl = tonumber(ttl), address = address, tag = tag, holder = holder,
  }
end
-- The head of a queue has:
-- first, next: the place of the first waiter, and that of the next claim to come;
-- waiters, count, used: how many wait, how many hold, and how many permits these use;
-- kind; limits, limit: the limits of the holders, and the least of them;
-- last, raised: the last number, and the one up to which all were raised;
-- death; only, number: when the first holder dies; the id of an only holder, and its number unless
--   it is sealed;
-- fore, told, newest: when the first waiter dies, which place was told that it is the first, and
--   the id of the claim that came last;
-- ended, endedBy: how the last hold ended, and its number;
-- firstGrave, nextGrave, buriedTo: tombstones; keptTo: when the key goes.
local function unpackedHead(key, text)
  local head = unpacked(key, text)
  if not head.nextGrave then refuse(key) end
  return head
end
-- Of the settings (redis-store.ts): the word on the server, maxWaiters, the prefix of the channels.
local function settings()
  return string.match(ARGV[1], ' (%S+) (%d+) (%S+)$')
end
-- After a loss of data, a refusal says how long nothing is granted.
local function refusal()
  return open and 'g refused ' or format('g refused %.0f', openAt - now)
end
local function quarantined(lines)
  if not open then lines[#lines + 1] = format('q %.0f', openAt - now) end
  return lines
end
-- Writes the store's record, if anything in it has changed.
local function writeRecord()
  if write then
    local fixed = format('%013.0f%016.0f%013.0f', openAt, highest, maxTtl)
    call('SET', KEYS[1], '1' .. data .. fixed .. tail)
  end
end
