/**
 * The queue as a majority of the members see it.
 *
 * Each member numbers claims by itself, and ids are secret, so a claim is recognised by its mark,
 * or by its holder, kind and TTL where a member keeps no marks. It is shown as a holder if it is
 * one at a majority of the members, under the number that most of them show, which is the token;
 * otherwise as a waiter. This is for people: no grant depends on it.
 */
import { StoreError, toStoreError } from '../../contract/errors.ts';
import type { Member, Queue } from '../../contract/store.ts';
import { checkQueue } from '../../store-calls/replies.ts';
import type { MemberStore } from './member-store.ts';
import { majorityOf } from './votes.ts';

/** A claim as some members see it. */
export interface Sighting {
  readonly member: MemberStore;
  readonly seen: Member;
  readonly holds: boolean;
}

export async function inspect(members: readonly MemberStore[], resource: string): Promise<Queue> {
  const { groups, queues } = await look(members, resource);
  const shown = (holders: boolean): Member[] =>
    groups.filter(({ holds }) => holds === holders).map((group) => group.shown);
  const limits = queues.flatMap((queue) => queue.limit ?? []);
  const limit = limits.length > 0 ? Math.min(...limits) : undefined;
  const closed = queues.map(({ quarantineMs = 0 }) => quarantineMs).sort((a, b) => a - b);
  const quarantineMs = closed[majorityOf(members.length) - 1] || undefined;
  return { resource, limit, holders: shown(true), waiters: shown(false), quarantineMs };
}

/** The members' views of the claim with this number. */
export async function find(
  members: readonly MemberStore[],
  { resource, number }: { readonly resource: string; readonly number: bigint },
): Promise<readonly Sighting[]> {
  const { groups } = await look(members, resource);
  return groups.find(({ shown }) => shown.number === number)?.sightings ?? [];
}

/** Without those of members that failed. @throws StoreError if fewer than a majority reply. */
export async function majorityAnswers<T>(
  members: readonly MemberStore[],
  ask: (member: MemberStore) => Promise<T>,
): Promise<readonly (readonly [MemberStore, T])[]> {
  const all = await Promise.allSettled(members.map((member) => member.within(() => ask(member))));
  const answers = all.flatMap((each, i) =>
    each.status === 'fulfilled' ? [[members[i] as MemberStore, each.value] as const] : [],
  );
  if (answers.length >= majorityOf(members.length)) return answers;
  const failed = all.find((each) => each.status === 'rejected');
  const cause = toStoreError(failed?.reason);
  const message = `Only ${answers.length} of ${members.length} members answered: ${cause.message}`;
  throw new StoreError(message, { cause, retryable: true, outcome: 'unknown' });
}

/** Holders first, then waiters in the order of the lowest members. */
async function look(members: readonly MemberStore[], resource: string) {
  const answers = await majorityAnswers(members, async ({ store }) =>
    checkQueue(await store.inspect(resource)),
  );
  const byMaker = new Map<string, Sighting[]>();
  const add = (member: MemberStore, seen: Member, holds: boolean): void => {
    const maker = makerOf(seen);
    byMaker.set(maker, [...(byMaker.get(maker) ?? []), { member, seen, holds }]);
  };
  for (const [member, { holders, waiters }] of answers) {
    for (const each of holders) add(member, each, true);
    for (const each of waiters) add(member, each, false);
  }
  const majority = majorityOf(members.length);
  const groups = [...byMaker.values()].map((sightings) => {
    const holding = sightings.filter((each) => each.holds);
    const holds = holding.length >= majority;
    const shown = holds ? shownAs(holding, majority) : shownAs(sightings, 1);
    return { sightings, holds, shown };
  });
  groups.sort((a, b) => Number(b.holds) - Number(a.holds));
  return { groups, queues: answers.map(([, queue]) => queue) };
}

function makerOf({ kind, ttlMs, holder }: Member): string {
  const { host, pid, label, since, mark } = holder;
  return mark ?? JSON.stringify([kind, ttlMs, host, pid, label ?? null, since]);
}

/** The number that most members show; the greatest of those. */
function usualNumber(sightings: readonly Sighting[]): bigint {
  const numbers = sightings.map(({ seen }) => seen.number);
  const times = (number: bigint): number => numbers.filter((each) => each === number).length;
  const [best] = numbers.toSorted((a, b) => times(b) - times(a) || Number(b - a));
  return best as bigint;
}

/** The claim, with the life that so many of them grant. */
function shownAs(sightings: readonly Sighting[], majority: number): Member {
  const lives = sightings.map(({ seen }) => seen.leftMs).sort((a, b) => b - a);
  const { seen } = sightings[0] as Sighting;
  const { mark: _, ...holder } = seen.holder;
  return { ...seen, number: usualNumber(sightings), leftMs: lives[majority - 1] ?? 0, holder };
}
