/** Several locks in one step: two seats side by side or none, and nothing held meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks, tryAllOf } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const row = [1, 2, 3, 4, 5, 6];
const sold: { readonly guest: string; readonly seat: number }[] = [];

/** Takes the first two free seats that it finds side by side. */
async function book(guest: string): Promise<void> {
  for (const first of row.slice(0, -1)) {
    const pair = [first, first + 1];
    // The hash tag puts all seats into one slot, should this be a cluster of Redis.
    await using leases = await tryAllOf(pair.map((seat) => locks.mutex(`{row 7} seat ${seat}`)));
    if (!leases || pair.some((seat) => sold.some((each) => each.seat === seat))) continue;
    await sleep(2, undefined, { signal: leases.signal });
    return void sold.push(...pair.map((seat) => ({ guest, seat })));
  }
}

await Promise.all(['ada', 'ben', 'cleo', 'dan'].map(book));
const seats = sold.map(({ seat }) => seat);
check(seats.length >= 2 && new Set(seats).size === seats.length, 'no seat is sold twice');
const alone = sold.filter(({ guest }) => sold.filter((each) => each.guest === guest).length !== 2);
check(alone.length === 0, `${seats.length} seats are sold, and nobody sits alone`);
