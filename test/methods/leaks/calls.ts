/** Each public call that listens, waits, subscribes or opens something, as one round of a test. */
import type { Locks } from 'holdfast';
import { allOf, closeOnSignal, createLocks, downgrade, evict, list, tryAllOf } from 'holdfast';
import { connect } from 'holdfast/connect';
import { createElection } from 'holdfast/election';
import { once } from 'holdfast/once';
import { refresh } from 'holdfast/refresh';
import { paced } from '../../support/this-run.ts';
import type { Lane } from './world.ts';

export interface Call {
  /** Opens connections, so there are as many rounds as the store allows. */
  readonly connects?: true;
  round(lane: Lane): Promise<unknown>;
}

/** As work does that hands its signal on: it listens, and never stops to. */
function listen({ signal }: { readonly signal: AbortSignal }): void {
  const request = Buffer.allocUnsafe(8).toString('hex').repeat(32);
  signal.addEventListener('abort', () => void request.length);
}

async function refused(waiting: Promise<unknown>): Promise<void> {
  const outcome = await waiting.then(
    () => 'granted',
    () => 'refused',
  );
  if (outcome === 'granted') throw new Error('It was granted.');
}

const FAIR = { fair: true };

/** A copy of what is aborted may come late, so the store remembers it for a TTL. */
const BRIEF = { ...FAIR, ttl: paced(2000) } as const;

const acquiring: Readonly<Record<string, Call['round']>> = {
  'acquire and release': async ({ locks, name, signal }) => {
    const lease = await locks.mutex(name).acquire({ signal });
    listen(lease);
    void lease.ended;
    await lease.release();
  },
  'a wait that is aborted in the queue': async ({ locks, busy }) => {
    const aborter = new AbortController();
    const waiting = refused(locks.mutex(busy, BRIEF).acquire({ signal: aborter.signal }));
    // Sent after the claim, and answered after it.
    await locks.inspect(busy);
    aborter.abort();
    await waiting;
  },
  'a wait that is aborted at once': async ({ locks, busy }) => {
    const aborter = new AbortController();
    const waiting = refused(locks.mutex(busy, BRIEF).acquire({ signal: aborter.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    aborter.abort();
    await waiting;
  },
  'a wait that runs out': ({ locks, busy, signal }) =>
    refused(locks.mutex(busy, BRIEF).acquire({ wait: 1, signal })),
  'a wait that is ended by another process': async ({ locks, others, name, signal }) => {
    const held = await others.mutex(name).acquire();
    const waiting = locks.mutex(name).acquire({ signal });
    await locks.inspect(name);
    await held.release();
    await (await waiting).release();
  },
  'a try that is refused': ({ locks, busy, signal }) =>
    locks.mutex(busy).tryRun({ signal }, listen),
  'a try that is not': ({ locks, name, signal }) => locks.mutex(name).tryRun({ signal }, listen),
  run: ({ locks, name, signal }) => locks.mutex(name).run({ signal }, listen),
  'run inside run': ({ locks, name }) => {
    const mutex = locks.mutex(name, { reentrant: true });
    return mutex.run(() => Promise.all([mutex.run(listen), mutex.run(listen)]));
  },
  'run that fails': ({ locks, name, signal }) =>
    refused(locks.mutex(name).run({ signal }, () => Promise.reject(new Error('no')))),
  'a hand-off in the process': ({ locks, name, signal }) =>
    Promise.all([1, 2].map(() => locks.mutex(name).run({ signal }, listen))),
  'a lease that is lost': async ({ locks, name }) => {
    const lease = await locks.mutex(name, { ttl: BRIEF.ttl, maxHold: '10s' }).acquire();
    listen(lease);
    await evict(locks, name, { token: lease.token, reason: 'test', now: true });
    await refused(lease.renew());
    await lease.release();
  },
};

const primitives: Readonly<Record<string, Call['round']>> = {
  semaphore: ({ locks, name, signal }) =>
    locks.semaphore(name, { limit: 3 }).run({ signal, permits: 2 }, listen),
  rwLock: async ({ locks, name, signal }) => {
    const { read, write } = locks.rwLock(name);
    await using lease = await write.acquire({ signal });
    await downgrade(lease);
    await read.run({ signal }, listen);
  },
  allOf: ({ locks, name, signal }) =>
    allOf([locks.mutex(name), locks.mutex(`${name}-too`)]).run({ signal }, listen),
  tryAllOf: async ({ locks, name, signal }) => {
    const leases = await tryAllOf([locks.mutex(name), locks.mutex(`${name}-too`)], { signal });
    if (!leases) throw new Error('They are free.');
    listen(leases);
    await leases.release();
  },
  'a campaign': async ({ locks, name, signal }) => {
    for await (const term of createElection(locks, name).campaign({ signal })) {
      listen(term);
      break;
    }
  },
  'a term of a campaign that goes on': async ({ locks, name, signal, goingOn }) => {
    const terms = goingOn(() => {
      const candidate = createElection(locks, name).campaign({ signal });
      const all = candidate[Symbol.asyncIterator]();
      const next = (): ReturnType<typeof all.next> => all.next();
      return { next, [Symbol.asyncDispose]: () => all.return().then(() => {}) };
    });
    const { value } = await terms.next();
    if (value) listen(value);
  },
  'a standby that resigns': async ({ locks, name, signal }) => {
    const election = createElection(locks, `${name}-seat`, { ttl: BRIEF.ttl });
    {
      await using _ = election.campaign();
      await election.campaign({ signal }).resign();
    }
    // What they leave waits for the store, which rounds that do not wait for it could outrun.
    for await (const _ of election.campaign()) break;
  },
  observe: async ({ locks, name, signal }) => {
    for await (const _ of createElection(locks, name).observe({ signal })) break;
  },
};

const jobs: Readonly<Record<string, Call['round']>> = {
  once: ({ locks, name, signal }) => once(locks, name, { keepFor: '1ms', signal }, listen),
  'once that fails': ({ locks, name, signal }) =>
    refused(once(locks, name, { keepFor: '1m', signal }, () => Promise.reject(new Error('no')))),
  refresh: ({ locks, name, signal }) =>
    refresh(locks, name, { signal, read: () => undefined, load: async () => 'value' }),
  'refresh that fails': ({ locks, name, signal }) =>
    refused(
      refresh(locks, name, {
        ...{ signal, retryAfter: 0, read: () => undefined },
        load: () => Promise.reject(new Error('no')),
      }),
    ),
};

async function useAll(locks: Locks, name: string): Promise<void> {
  const stop = locks.on('acquired', () => {});
  await locks.mutex(name).run(listen);
  await locks.mutex(name, FAIR).tryRun(listen);
  stop();
}

const others: Readonly<Record<string, Call['round']>> = {
  inspect: ({ locks, busy }) => locks.inspect(busy),
  // Of one name: that of all takes as long as there are names.
  list: async ({ locks, busy }) => {
    for await (const _ of list(locks, `${busy}-`)) throw new Error('Nobody has it.');
  },
  on: async ({ locks }) => {
    const stop = locks.on('lost', () => {});
    stop();
  },
  'createLocks and close': async ({ store, name }) => {
    await using locks = closeOnSignal(createLocks(store));
    await useAll(locks, name);
  },
};

const rounds = { ...acquiring, ...primitives, ...jobs, ...others };

export const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ...Object.entries(rounds).map(([name, round]): [string, Call] => [name, { round }]),
  [
    'connect and close',
    {
      connects: true,
      round: async ({ url, name }) => {
        await using locks = await connect(url);
        await useAll(locks, `${name}-connected`);
      },
    },
  ],
]);
