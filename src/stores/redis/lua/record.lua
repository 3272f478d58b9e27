-- The store's record, KEYS[1]: whose data this is, and when some of it may last have been lost.
--
-- Invariant: nothing is granted within maxTtl of a moment at which claims may have been lost; openAt
-- is that moment plus maxTtl. The record names the replication id of the server that wrote it. A
-- restart and a promotion change that id, so every script compares it; a flush removes the record.
-- What gets past both (SWAPDB twice, a slot given away without its data, and back) shows in how
-- often such commands have run. Comparing that after each second without a script is enough:
-- a server that granted anything elsewhere meanwhile waited for maxTtl first.
-- The databases of one server differ only in their numbers: the number shows that a swap brought
-- another database's record, as fresh as ours.
-- The id also changes where nothing is lost: with the first replica, a remote backup, a freed
-- backlog. Then the process is the same (run_id), has no second id, and neither commands nor bytes
-- of a primary say that it has followed another since: the record takes over the new id.
-- In doubt the loss was just now; or at the start, if there is no record and statistics prove that
-- nothing happened since. A record from elsewhere proves that something did.
-- A lost slot of a cluster looks like one never used, so in doubt a slot asks for the record of its
-- server, which counts every command that may bring it slots (server.lua). A program with `trust`
-- writes the same record, and only skips the wait (queue.lua). What breaks it: redis.md.
-- It also keeps the highest number given to a claim of an idle resource, which leaves no
-- key behind, so that numbers grow even if the server's clock goes back.
-- Layout 1: replication id 40, open at (ms) 13, highest number 16, maxTtl 13; then the number of the
-- database, '?' where the client does not tell it; run_id; how often commands that may lose data
-- have run; the signs of a time as a replica; and 'n' if the last loss was noticed, 's' if it was
-- before the start.
-- ARGV[1]: 'w' if replicas are then asked to confirm, which they can only do for a write, or '-';
-- 't' if this program trusts, or '-'; maxTtl, a slash and the database. Then in words: 'fresh' if
-- the server knew no script of ours, or 'known', or in a cluster 'slot' or server.lua's answer;
-- maxWaiters; the prefix of the channels. The arguments of the verb follow.
local replication = call('INFO', 'replication')
local _, at = string.find(replication, 'master_replid:', 1, true)
local none = '0000000000000000000000000000000000000000'
local data = at and sub(replication, at + 1, at + 40) or none
local record = call('GET', KEYS[1])
local openAt, highest, maxTtl, tail, same = 0, 0, 0, '', false
local write, trusts = sub(ARGV[1], 1, 1) == 'w', sub(ARGV[1], 2, 2) == 't'
local longest, database = string.match(ARGV[1], '(%d+)/(%S+)')
local swapped = false
if record then
  local layout = sub(record, 1, 1)
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
if maxTtl < longest then
  -- Also for a wait that began, or ended, before this program came.
  openAt, maxTtl, write = openAt + longest - maxTtl, longest, true
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
  local ran, lost, followed, how = string.match(tail, ' (%S+) (%S+) (%S+) (%a)$')
  lost = tonumber(lost or -1)
  local process = counted and run ~= '-' and run == ran and following == followed
    and not second and not (at and resets > 0) and not swapped
  -- A server's record is read rarely, and only for slots without one of their own.
  if not same and not process or losses > lost or SERVER and losses < lost then
    if word == 'slot' and not SERVER then
      return redis.error_reply('UNSETTLED what is known of the server?')
    end
    -- In whole seconds, so it may be one less.
    local up = 1000 * (string.match(info, 'uptime_in_seconds:(%d+)') or 0) - 1000
    local since, reason, seen = string.match(word, '^(%d+)(%a):(%S+)$')
    if seen == state and (reason == 'n' or not record) then
      how = reason
    elseif not record and word ~= 'known' and up >= maxTtl and at and not second and counted
      and total == 0 and received == '0' then
      since, how = now - up, 's'
    else
      since, how = now, 'n'
    end
    openAt, write = since + maxTtl, true
  end
  local text = format('%s %s %.0f %s %s', database, run, losses, following, how)
  write = write or not same or text ~= tail
  tail = text
end
-- The wait is over for all; a claim that trusts does not need it.
local over = now >= openAt
local open = over or trusts
-- Once a second, so that the highest number also covers a claim whose process has died.
if micros - highest > 1000000 then
  highest, write = micros, true
end
local function fresh(last)
  local number = micros
  if number <= highest then number = highest + 1 end
  if number <= last then number = last + 1 end
  -- Once its key has expired, a number ahead of the clock would be given again.
  if number > micros then highest, write = number, true end
  return number
end
