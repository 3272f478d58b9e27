/** Several locks at once, all or nothing: transfers in both directions cannot block each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, createLocks } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const accounts = new Map([
  ['ada', 100],
  ['ben', 100],
]);

async function transfer(from: string, to: string, amount: number): Promise<void> {
  const both = allOf([locks.mutex(`account:${from}`), locks.mutex(`account:${to}`)]);
  await both.run({ wait: '10s' }, async ({ signal }) => {
    const [have = 0, has = 0] = [accounts.get(from), accounts.get(to)];
    await sleep(2, undefined, { signal });
    accounts.set(from, have - amount);
    accounts.set(to, has + amount);
  });
}

// They name the accounts in opposite order; the locks are taken in the order of their names.
await Promise.all(
  Array.from({ length: 10 }, () => [transfer('ada', 'ben', 5), transfer('ben', 'ada', 3)]).flat(),
);
const [ada = 0, ben = 0] = [accounts.get('ada'), accounts.get('ben')];
check(ada === 80 && ben === 120, `ada has ${ada}, ben has ${ben}`);
