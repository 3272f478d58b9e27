/** An election: two of three workers are active, the third stands by for the next free seat. */

import { once } from 'node:events';
import { createLocks, type Member } from 'holdfast';
import { type Candidate, createElection } from 'holdfast/election';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const election = createElection(locks, 'worker', { seats: 2 });

/** What each process does, term by term. Leaving the loop would resign. */
async function work(name: string, candidate: Candidate): Promise<void> {
  for await (const { signal } of candidate) {
    console.log(`${name} begins to work`);
    if (!signal.aborted) await once(signal, 'abort');
    console.log(`${name} stops`);
  }
}

function list(members: readonly Member[]): string {
  return members.map(({ holder }) => holder.label).join(' and ') || 'none';
}

const names = ['worker 1', 'worker 2', 'worker 3'];
const candidates = names.map((label) => election.campaign({ label }));
const done = candidates.map((candidate, n) => work(names[n] ?? '', candidate));

let active = '';
for await (const { leaders, standbys } of election.observe({ every: '20ms' })) {
  active = list(leaders);
  console.log(`active: ${active}; standing by: ${list(standbys)}`);
  if (leaders.length < 2) continue;
  if (!active.includes('worker 1')) break;
  await candidates[0]?.resign();
}
check(active === 'worker 2 and worker 3', 'who stood by has taken the seat of worker 1');

await Promise.all(candidates.map((candidate) => candidate.resign()));
await Promise.all(done);
