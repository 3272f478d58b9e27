/** What happens around some blocks of the pages, and what is expected of them then. */
import { createElection } from 'holdfast/election';
import { expect } from 'vitest';
import { ObjectServer } from '../../fences/object-server.ts';
import { COMMENTS } from './comment-scenarios.ts';
import { countStock } from './reader.ts';
import {
  hold,
  holdShortly,
  ledThrice,
  loseReport,
  nobodyHolds,
  printed,
  resignInTime,
  runReport,
  type Scenario,
  until,
} from './scenario.ts';
import { askShop } from './shop.ts';
import { STORES } from './store-scenarios.ts';
import { SKU, type World } from './world.ts';

const soldOne = ({ db }: World): void => expect(countStock(db, SKU)).toBe(2);

const README: readonly Scenario[] = [
  {
    page: 'README.md',
    has: 'sqliteStore(',
    after: ({ opened }) => expect(opened).toHaveLength(1),
  },
  { page: 'README.md', has: 'sqlFence(', after: soldOne },
  {
    page: 'README.md',
    has: 'campaign()',
    before: resignInTime,
    after: ledThrice,
  },
];

const ELECTIONS: readonly Scenario[] = [
  {
    page: 'docs/guide/elections-and-standbys.md',
    has: 'await lead(',
    before: resignInTime,
    after: ledThrice,
  },
  {
    page: 'docs/guide/elections-and-standbys.md',
    has: 'candidate.state',
    prints: 'standby\nundefined',
  },
  {
    page: 'docs/guide/elections-and-standbys.md',
    has: 'election.standings()',
    async before({ others }) {
      const candidate = createElection(others, 'worker', { seats: 2 }).campaign({
        label: 'worker-1',
      });
      await until(() => candidate.state === 'leader');
    },
    prints: 'worker-1',
  },
  {
    page: 'docs/guide/elections-and-standbys.md',
    has: 'election.observe()',
    async meanwhile(world) {
      await printed(world, '0 lead');
      createElection(world.others, 'worker', { seats: 2 }).campaign();
      await printed(world, '1 lead');
      await world.locks.close();
    },
  },
];

const FENCES: readonly Scenario[] = [
  { page: 'docs/guide/fences.md', has: 'countStock(', after: soldOne },
  {
    page: 'docs/guide/fences-objects.md',
    has: 'PutObjectCommand(',
    after({ objects }) {
      const { value } = JSON.parse(objects.get('plan') ?? '{}') as { readonly value?: unknown };
      expect(value).toEqual({ files: ['one-more.parquet'] });
    },
  },
  {
    page: 'docs/guide/fences-objects.md',
    has: 'async function ask',
    before: serveFiles,
    uncalled: ['fetch'],
    async after({ names }) {
      const response = await (names.fetch as typeof fetch)('https://files.example/plans/plan');
      expect(await response.json()).toMatchObject({ value: ['one more'] });
    },
  },
  {
    page: 'docs/guide/fences-http.md',
    has: 'fenceHeaders(',
    after({ requests }) {
      expect(requests).toMatchObject([{ url: `https://stock.example/${SKU}/sell` }]);
      expect([...(requests[0]?.headers.keys() ?? [])].length).toBeGreaterThan(0);
    },
  },
  { page: 'docs/guide/fences-http.md', has: 'createServer(', after: askShop },
];

const GETTING_STARTED: readonly Scenario[] = [
  {
    page: 'docs/guide/getting-started.md',
    has: 'sqliteStore(',
    after: async ({ opened }) => {
      expect(await opened[0]?.mutex('a').run(({ resource }) => resource)).toBe('shop:a');
    },
  },
  {
    page: 'docs/guide/getting-started.md',
    has: 'connect(',
    after: async ({ opened }) => {
      expect(await opened[0]?.mutex('a').run(({ resource }) => resource)).toBe('shop:a');
    },
  },
  {
    page: 'docs/guide/getting-started.md',
    has: "locks.mutex('nightly-report')",
    before: hold('nightly-report'),
    prints: `pid ${process.pid}`,
    uncalled: ['buildReport'],
  },
  {
    page: 'docs/guide/getting-started.md',
    has: 'locks.close()',
    after: ({ locks }) =>
      expect(locks.mutex('a').acquire()).rejects.toMatchObject({ code: 'CLOSED' }),
  },
];

const OBSERVING: readonly Scenario[] = [
  {
    page: 'docs/guide/observing.md',
    has: 'const stop = locks.on',
    async after(world) {
      await loseReport(world);
      expect(world.printed).toEqual([expect.stringMatching(/^report \d+n undefined$/)]);
    },
  },
  {
    page: 'docs/guide/observing.md',
    has: 'subscribe(',
    async after(world) {
      await loseReport(world);
      await printed(world, "reason: 'evicted'");
    },
  },
  {
    page: 'docs/guide/observing.md',
    has: 'new WeakMap',
    async after(world) {
      await runReport(world);
      expect(world.printed).toEqual([expect.stringMatching(/^report \S+ [\d.]+$/)]);
    },
  },
  { page: 'docs/guide/observing.md', has: 'new AsyncLocalStorage', after: runReport },
  {
    page: 'docs/guide/observing.md',
    has: 'instrument(',
    async after(world) {
      expect(world.stops).toHaveLength(1);
      await runReport(world);
    },
  },
  {
    page: 'docs/guide/observing.md',
    has: 'queue.waiters',
    before: hold('nightly-report'),
    prints: `${process.pid}`,
  },
  {
    page: 'docs/guide/observing.md',
    has: 'list(locks',
    before: hold('account:7'),
    prints: 'account:7',
  },
  {
    page: 'docs/guide/observing.md',
    has: 'evict(locks',
    before: holdShortly('nightly-report'),
    after: nobodyHolds('nightly-report'),
  },
];

const OTHERS: readonly Scenario[] = [
  {
    page: 'docs/guide/once.md',
    has: 'console.log(receipt?.number)',
    prints: '1',
  },
  {
    page: 'docs/guide/once.md',
    has: 'message.ack()',
    after: ({ acknowledged }) => expect(acknowledged).toEqual(['42']),
  },
  {
    page: 'docs/guide/re-entrance.md',
    has: 'DeadlockError',
    rejects: 'DEADLOCK',
    uncalled: ['step'],
  },
  { page: 'docs/guide/re-entrance.md', has: 'inner === outer', prints: 'true' },
  {
    page: 'docs/guide/re-entrance.md',
    has: 'setTimeout(',
    async after({ timers, calls }) {
      expect(calls.get('step')).toBe(2);
      timers[0]?.();
      await until(() => calls.get('step') === 3);
    },
  },
  {
    page: 'docs/guide/read-write-locks.md',
    has: 'downgrade(lease)',
    prints: 'read new',
  },
  {
    page: 'docs/guide/refresh.md',
    has: 'staleWhileRefreshing',
    before: ({ cached }) => cached.set('token', { text: 'old', endsAt: Date.now() + 200_000 }),
    after: ({ cached }) => until(() => cached.get('token')?.text === 'secret'),
  },
  {
    page: 'docs/guide/refresh.md',
    has: 'fetchToken()',
    after: ({ cached }) => expect(cached.get('token')?.text).toBe('secret'),
  },
  {
    page: 'docs/guide/semaphores.md',
    has: "'mismatch'",
    async after(world) {
      await world.others.semaphore('gpu', { limit: 3 }).acquire();
      await world.locks.semaphore('gpu', { limit: 4 }).acquire();
      await printed(world, 'gpu the limit in force is 3, not 4');
    },
  },
  {
    page: 'docs/guide/ttl-and-heartbeats.md',
    has: 'lease.takeover',
    // It dies: nobody tells the store that it is gone.
    before: ({ others }) => others.mutex('import', { ttl: '1s', heartbeat: false }).acquire(),
  },
  // The server asks nobody for a password.
  { page: 'docs/stores/postgres.md', has: 'orThese', uncalled: ['readToken'] },
  {
    page: 'docs/guide/which-lock.md',
    has: 'tryRun(',
    before: hold('nightly-report'),
    prints: 'already being made',
    uncalled: ['buildReport'],
  },
];

export const SCENARIOS: readonly Scenario[] = [
  ...README,
  ...STORES,
  ...ELECTIONS,
  ...FENCES,
  ...GETTING_STARTED,
  ...OBSERVING,
  ...OTHERS,
  ...COMMENTS,
];

/** What the page takes for a service of objects in the network. */
async function serveFiles({ names }: World): Promise<void> {
  const { url } = await ObjectServer.start();
  names.fetch = (place: string, init?: RequestInit): Promise<Response> =>
    fetch(place.replace('https://files.example/', url), init);
}
