-- Runs commands in order. KEYS: one for each. ARGV: for each the number of its words, its name, and
-- its words after the key.
local answers, at = {}, 1
for i = 1, #KEYS do
  local last = at + ARGV[at]
  answers[i] = redis.call(ARGV[at + 1], KEYS[i], unpack(ARGV, at + 2, last))
  at = last + 1
end
return answers
