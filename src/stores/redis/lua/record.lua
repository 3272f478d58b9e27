-- The store's record, KEYS[1]: whose data this is, and when some of it may last have been lost.
--
-- Invariant: nothing is granted while a lost claim may live; openAt says until when. The record is
-- part of the data and names its server (replication id, process, database). After a restart, a
-- promotion or a swap, it names another; a flushed or new server has none; and the server counts
-- the commands that take claims and leave the record. If in doubt, the script assumes a loss just
-- now. The wait that follows:
-- n: only this process granted what is lost: it has never followed another, or the record names it.
--    It grants nothing after the loss, so all ends within maxTtl. A new server waits that long.
-- p: another server may still grant. This one was a replica, or has data of another process, like
--    either side of a fail-over that starts again. Sentinel lets the old primary write for up to
--    12 s: maxTtl and 20 s, or three times a maxTtl below 10 s, enough from 6 s upwards.
-- In a cluster a replaced primary stops in time (n), and all ask for 30 s or more (redis-store.ts).
-- What breaks it: lost-data.md; a program with a smaller maxTtl than others that comes first after
-- a flush; of two sides of a fail-over, one that starts again without its data while the other
-- grants.

-- The record keeps the greatest maxTtl. One script raises it and grants, and prolongs the wait for
-- the last loss, so no copy of the data has the grant alone; programs remember the greatest, too.
-- The replication id also changes where nothing is lost: with the first replica, a remote backup,
-- a freed backlog. Then the process is the same, and has provably not followed another since.
-- What gets past the id (SWAPDB twice, a slot given away without its data, and back) shows in how
-- often such commands have run. Comparing that after each second without a script is enough: a
-- server that granted anything elsewhere meanwhile waited for maxTtl first.
-- A lost slot of a cluster looks like one never used, so in doubt a slot asks for the record of its
-- server, which counts all that may bring it slots (server.lua).
-- Where statistics prove that nothing was lost since the start, the loss was at the start.
-- A program with `trust` writes the same record, and only skips the wait: it finds `open`.
-- It also keeps the highest number given to a claim that holds alone, or of an idle resource, which
-- leaves no key behind, so that numbers grow even if the server's clock goes back.
-- Layout 1: replication id 40, open at (ms) 13, highest number 16, maxTtl 13; then the number of
-- the database, '?' where the client does not tell it; run_id; how often commands that may lose
-- data have run; the signs of a time as a replica; and 'n' or 'p', or 's' if the last loss was
-- before the start. Layout 0: programs with other keys (spelling.ts) use this namespace.
-- ARGV[1]: the settings (redis-store.ts). The arguments of the verb follow.
local replication = call('INFO', 'replication')
local _, at = string.find(replication, 'master_replid:', 1, true)
local none = '0000000000000000000000000000000000000000'
data = at and sub(replication, at + 1, at + 40) or none
record = record or call('GET', KEYS[1])
openAt, highest, maxTtl, tail, write = 0, 0, 0, '', sub(ARGV[1], 1, 1) == 'w'
local trusts, same, swapped = sub(ARGV[1], 2, 2) == 't', false, false
local longest, database = string.match(ARGV[1], '(%d+)/(%S+)')
if record then
  local layout = sub(record, 1, 1)
  if layout == '0' then
    return redis.error_reply('SPELLING ' .. KEYS[1] .. ' is of programs with another hashTag, or'
      .. ' with a cluster client, so they and this one would not exclude each other. Give all the'
      .. ' same, or other namespaces; delete that key if none of the others runs any more')
  end
  if layout ~= '1' or #record < 84 then
    return redis.error_reply('LAYOUT ' .. KEYS[1] .. ' has another layout')
  end
  openAt, highest = tonumber(sub(record, 42, 54)), tonumber(sub(record, 55, 70))
  maxTtl, tail = tonumber(sub(record, 71, 83)), sub(record, 84)
  if highest >= 2 ^ 53 - 1 then
    return redis.error_reply('NUMBERS end before 2^53: ' .. KEYS[1] .. ' has one beyond')
  end
  local stored = string.match(tail, '^(%S+) ')
  if database == '?' then database = stored or database end
  swapped = stored and stored ~= database and stored ~= '?'
  same = at and not swapped and sub(record, 2, 41) == data
end
longest = tonumber(longest)
local how = sub(tail, -1)
-- How long nothing is granted after the last loss.
local function waitFor(ttl)
  return how == 'p' and ttl + math.min(20000, 2 * ttl) or ttl
end
if maxTtl < longest then
  -- Also for a wait that began, or ended, before this program came.
  openAt, maxTtl, write = openAt + waitFor(longest) - waitFor(maxTtl), longest, true
end
-- The start of a reply: the time, and for a program whose maxTtl is smaller, the longest.
local stamp = now
if maxTtl > longest then stamp = format('%.0f %.0f', now, maxTtl) end
local state
local unseen = micros - highest
if SERVER or not same or unseen < 0 or unseen > 1000000 or unseen > maxTtl * 1000 then
  local word = string.match(ARGV[1], ' (%S+)')
  local info = call('INFO', 'server', 'stats', 'commandstats', 'cluster')
  local run = string.match(info, '\nrun_id:(%x+)') or '-'
  local counted = string.find(info, 'cmdstat_time:', 1, true)
  if not at and not trusts and not (counted and run ~= '-') then
    return redis.error_reply('NOIDENTITY it tells no master_replid, nor run_id and commandstats')
  end
  local function among(verb, verbs)
    return string.find(verbs, ' ' .. verb .. ' ', 1, true)
  end
  -- `losses` may take claims and leave or bring a record; `others` take the record, or lack one.
  local losses, follows, resets, others = 0, 0, 0, 0
  for verb, calls in string.gmatch(info, 'cmdstat_([^:]+):calls=(%d+)') do
    if among(verb, ' swapdb debug cluster|delslots cluster|delslotsrange cluster|flushslots ') then
      losses = losses + calls
    elseif among(verb, ' replicaof slaveof failover ') then
      follows = follows + calls
    elseif verb == 'config|resetstat' then
      resets = resets + calls
    elseif among(verb, ' flushall flushdb script|flush ')
      or sub(verb, 1, 8) == 'cluster|' and not among(sub(verb, 9), ' info slots shards nodes links '
        .. 'myid myshardid keyslot countkeysinslot getkeysinslot slot-stats help replicas slaves '
        .. 'meet forget count-failure-reports saveconfig set-config-epoch bumpepoch ') then
      others = others + calls
    end
  end
  others = others + (string.match(info, 'evicted_keys:(%d+)') or 1)
  local received = string.match(info, 'total_net_repl_input_bytes:(%d+)') or '-'
  local second = at and not string.find(replication, 'master_replid2:' .. none, 1, true)
  local total = losses + follows + resets + others
  state = run .. data .. format('%.0f', total)
  if SERVER then losses = total end
  local following = follows .. ':' .. resets .. ':' .. received
  local ran, lost, followed = string.match(tail, ' (%S+) (%S+) (%S+) %a$')
  lost = tonumber(lost or -1)
  local stayed = counted and run ~= '-' and run == ran and following == followed
    and not second and not (at and resets > 0)
  local process = stayed and not swapped
  local primary = at and counted and not second and follows + resets == 0 and received == '0'
  -- A server's record is read rarely, and only for slots without one of their own.
  if not same and not process or losses > lost or SERVER and losses < lost then
    if word == 'slot' and not SERVER then
      return redis.error_reply('UNSETTLED what is known of the server?')
    end
    -- In whole seconds, so it may be one less.
    local up = 1000 * (string.match(info, 'uptime_in_seconds:(%d+)') or 0) - 1000
    local since, reason, seen = string.match(word, '^(%d+)(%a):(%S+)$')
    -- After a promotion a further loss on the same server must not shorten the wait.
    local alone = record and stayed and how ~= 'p' or not record and primary
    -- The names of a cluster's records end with a brace; a hash tag may be on one server.
    local many = sub(KEYS[1], -1) == '}' or string.find(info, 'cluster_enabled:1', 1, true)
    if seen == state and (reason == 'n' or not record) then
      how = reason
    elseif not record and word ~= 'known' and up >= maxTtl and primary and total == 0 then
      since, how = now - up, 's'
    else
      since, how = now, (alone or many) and 'n' or 'p'
    end
    openAt, write = since + waitFor(maxTtl), true
  end
  local text = format('%s %s %.0f %s %s', database, run, losses, following, how)
  write = write or not same or text ~= tail
  tail = text
end
-- What was lost ends by then, even if the clock was set back since.
local furthest = now + waitFor(maxTtl)
if openAt > furthest then
  openAt, write = furthest, true
end
-- The wait is over for all; a claim that trusts does not need it.
over = now >= openAt
open = over or trusts
-- Once a second, so that the highest number also covers claims of dead processes, but the latest.
if micros - highest > 1000000 then
  highest, write = micros, true
end
local function newNumber(last)
  local number = micros
  if number <= highest then number = highest + 1 end
  if number <= last then number = last + 1 end
  -- Once its key has expired, a number ahead of the clock would be given again.
  if number > micros then highest, write = number, true end
  return number
end
