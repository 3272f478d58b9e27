/** What two looks at a store say, and what they cannot. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Member, Queue } from '../../src/contract/store.ts';
import { Board, rowOf } from '../../src/dashboard/board.ts';
import { Figures } from '../../src/dashboard/figures.ts';
import { History } from '../../src/dashboard/history.ts';
import { merged } from '../../src/dashboard/ui/events.ts';
import type { Report } from '../../src/dashboard/wire.ts';
import { cases } from '../support/cases.ts';

function member(number: bigint, leftMs = 10_000, mark?: string): Member {
  const holder = { host: 'api', pid: Number(number), since: 0, ...(mark && { mark }) };
  return { number, kind: 'mutex', permits: 1, ttlMs: 10_000, leftMs, holder };
}

const by = (pid: number) => ({ host: 'api', pid, label: null });

function reportOf(what: Report['what'], token: number | null, detail = ''): Report {
  const own = token === null ? null : String(token);
  return { resource: 'a', what, token: own, detail: detail || null, handOffMs: null };
}

type Look = readonly [holders: readonly Member[], waiters: readonly Member[]];

/** The lines that these looks, one a second, conclude. */
function conclude(...looks: readonly Look[]): readonly string[] {
  const scene = new Scene();
  for (const [holders, waiters] of looks) scene.look(holders, waiters);
  return scene.told;
}

describe('two looks', () => {
  it('tell a hand-off by the token', () => {
    const lines = conclude([[member(1n)], [member(2n)]], [[member(2n)], []]);
    expect(lines).toEqual(['handed on 2 after api · 1']);
  });

  it('tell who came and who gave up', () => {
    const lines = conclude([[], []], [[member(1n)], [member(2n)]], [[member(1n)], []]);
    expect(lines).toEqual(['granted 1', 'waits 2', 'left 2']);
  });

  it('do not know why a holder is gone, but whether its time may have run out', () => {
    expect(conclude([[member(1n)], []], [[], []])).toEqual(['gone 1']);
    const late = conclude([[member(1n, 1_500)], []], [[], []]);
    expect(late).toEqual(['gone 1 its time may have run out']);
  });

  it('tell of a hold that goes to another process', () => {
    const [given, taken] = [member(1n, 10_000, 'in transit'), member(1n)];
    const lines = conclude([[member(1n)], []], [[given], []], [[taken], []], [[], []]);
    expect(lines).toEqual(['handed over 1', 'resumed 1', 'gone 1']);
  });

  it('tell nothing of a heartbeat', () => {
    expect(conclude([[member(1n, 7_000)], []], [[member(1n, 9_900)], []])).toEqual([]);
  });
});

/** A store, looked at, and processes that report what they do with it. */
class Scene {
  readonly history: History = new History();
  readonly #board = new Board();
  #now = 0;

  look(holders: readonly Member[], waiters: readonly Member[] = []): void {
    this.#now += 1_000;
    const queue: Queue = { resource: 'a', limit: 1, holders, waiters };
    const row = rowOf('a', queue, this.#now);
    const change = this.#board.take(new Map(row.seats.length > 0 ? [['a', row]] : []));
    if (this.#now > 1_000) {
      this.history.conclude(change, (name) => this.#board.row(name), this.#now);
    }
  }

  report(pid: number, ...told: Parameters<typeof reportOf>): void {
    this.history.report('a', reportOf(...told), by(pid), this.#now);
  }

  /** What a page shows. */
  get told(): readonly string[] {
    const lines = merged([], this.history.since(0));
    return lines.map(({ what, token, detail }) => [what, token, detail].filter(Boolean).join(' '));
  }
}

describe('reports and looks', () => {
  const [N, M] = [1_024, 2_048];
  const [n, m] = [member(BigInt(N), 1_500), member(BigInt(M), 1_500)];

  it('tell of one thing once, whichever comes first', () => {
    const [early, late] = [new Scene(), new Scene()];
    for (const scene of [early, late]) scene.look([], [n]);
    early.report(N, 'granted', N);
    early.look([n]);
    early.report(N, 'lost', N, 'evicted: it hangs');
    early.look([]);
    late.look([n]);
    late.report(N, 'granted', N);
    late.look([]);
    late.report(N, 'lost', N, 'evicted: it hangs');
    for (const scene of [early, late]) {
      expect(scene.told).toEqual([`granted ${N}`, `lost ${N} evicted: it hangs`]);
      expect(scene.history.rates(3_000)).toMatchObject({ grants: 1, losses: 1 });
    }
  });

  it('tell of a holder that died after hand-offs in its process', () => {
    const scene = new Scene();
    scene.look([n]);
    scene.report(N, 'granted', N);
    scene.report(N, 'released', N);
    scene.report(N, 'handed on', N + 1);
    scene.look([]);
    expect(scene.told.at(-1)).toBe(`gone ${N} its time may have run out`);
  });

  it('keep whom a holder followed, and tell of one that a reporter followed', () => {
    const [late, early] = [new Scene(), new Scene()];
    late.look([n], [m]);
    late.look([m]);
    late.report(M, 'handed on', M);
    expect(late.told).toEqual([`handed on ${M} after api · ${N}`]);
    late.report(N, 'released', N);
    late.look([]);
    late.report(M, 'released', M);
    expect(late.told.slice(1)).toEqual([`released ${N}`, `released ${M}`]);
    early.look([n], [m]);
    early.report(M, 'handed on', M);
    early.look([m]);
    expect(early.told).toEqual([`handed on ${M}`, `gone ${N} its time may have run out`]);
  });

  it('tell of a wait that ended once, whichever comes first', () => {
    const [late, early] = [new Scene(), new Scene()];
    late.look([n], [m]);
    late.look([n]);
    late.report(M, 'missed', null, 'timeout');
    early.look([n], [m]);
    early.report(M, 'missed', null, 'timeout');
    early.look([n]);
    for (const { told } of [late, early]) expect(told).toEqual(['missed timeout']);
  });

  it('tell of each wait of one process, whichever comes first', () => {
    const scenes = [new Scene(), new Scene(), new Scene()];
    const waits = [m, n].map((each) => ({ ...each, holder: m.holder }));
    const told = ['aborted', 'timeout'];
    scenes.forEach((scene, early) => {
      scene.look([], waits);
      for (const why of told.slice(0, early)) scene.report(M, 'missed', null, why);
      scene.look([]);
      for (const why of told.slice(early)) scene.report(M, 'missed', null, why);
      expect([...scene.told].sort()).toEqual(['missed aborted', 'missed timeout']);
      scene.look([], waits.slice(1));
      scene.look([]);
      expect(scene.told.slice(2)).toEqual([`waits ${N}`, `left ${N}`]);
    });
  });

  it.each([
    ['a try that failed', 'taken', 0],
    ['a wait that no look has seen', 'timeout', 15],
  ])('tell of a wait that ended with its process after %s', (_, why, looks) => {
    const scene = new Scene();
    scene.look([n]);
    scene.report(M, 'missed', null, why);
    for (let times = 0; times < looks; times += 1) scene.look([n]);
    scene.look([n], [m]);
    scene.look([n]);
    expect(scene.told).toEqual([`missed ${why}`, `waits ${M}`, `left ${M}`]);
  });

  it('never tell twice nor of nothing, whenever looks happen and reports come', () => {
    const claims = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 });
    const chances = fc.infiniteStream(fc.boolean());
    fc.assert(
      fc.property(claims, chances, (leases, coins) => {
        const toss = (): boolean => coins.next().value as boolean;
        const scene = new Scene();
        const all = leases.map((_, c) => member(BigInt((c + 1) * N)));
        const on = new Map<number, Parameters<typeof reportOf>[]>(leases.map((_, c) => [c, []]));
        const expected: string[] = [];
        const pass = (holder: number, waiters: readonly Member[]): void => {
          if (toss()) scene.look([all[holder] as Member], waiters);
          for (const [c, waiting] of on) {
            while (waiting[0] && toss()) scene.report((c + 1) * N, ...waiting.shift()!);
          }
        };
        scene.look([]);
        leases.forEach((count, c) => {
          // Whether the next claim waits already.
          let queues = false;
          for (let lease = 0; lease < count; lease += 1) {
            const token = (c + 1) * N + lease;
            for (const what of [lease > 0 ? 'handed on' : 'granted', 'released'] as const) {
              on.get(c)?.push([what, token]);
              expected.push(`${what} ${token}`);
              if (what === 'granted' || toss()) {
                queues ||= toss();
                pass(c, queues ? all.slice(c + 1, c + 2) : []);
              }
            }
          }
        });
        scene.look([]);
        for (const [c, waiting] of on) {
          for (const each of waiting) scene.report((c + 1) * N, ...each);
        }
        const told = scene.told.map((line) => line.replace(/ after .*/, ''));
        expect(told.filter((line) => !line.startsWith('waits')).sort()).toEqual(expected.sort());
        const grants = expected.filter((line) => !line.startsWith('released')).length;
        expect(scene.history.rates(60_000).grants).toBe(grants);
      }),
      cases(300),
    );
  });
});

describe('a board', () => {
  const take = (board: Board, leftMs: number, now: number) => {
    const queue = { resource: 'a', holders: [member(1n, leftMs)], waiters: [] };
    return board.take(new Map([['a', rowOf('a', queue, now)]]));
  };

  it('takes small errors for none, and adds none up', () => {
    const board = new Board();
    take(board, 10_000, 0);
    const ends = Array.from({ length: 9 }, (_, n) => take(board, 10_000 + 100 * (n % 3), 0).beaten);
    expect(ends.flat()).toEqual([]);
    expect(take(board, 10_300, 0).beaten).toEqual(['a']);
    expect(take(board, 10_300, 500).beaten).toEqual(['a']);
  });

  it('takes a look in parts, and knows at its end what is gone', () => {
    const board = new Board();
    const emptyOf = (resource: string): Queue => ({ resource, holders: [], waiters: [] });
    const rows = (...names: readonly string[]) =>
      new Map(names.map((name) => [name, rowOf(name, emptyOf(name), 0)] as const));
    expect(board.add(rows('a'))).toMatchObject({ changed: ['a'], gone: [] });
    expect(board.add(rows('b'))).toMatchObject({ changed: ['b'], gone: [] });
    const { changed, gone, before } = board.take(rows('b', 'c'));
    expect([changed, gone, [...before.keys()]]).toEqual([['c'], ['a'], ['a']]);
    expect([...board.names]).toEqual(['b', 'c']);
  });
});

describe('the figures of the last minute', () => {
  it('count every grant, however many there are', () => {
    const figures = new Figures();
    for (let at = 0; at < 120_000; at += 10) figures.granted('a', at);
    expect([figures.rates(119_999).grants, figures.rates(150_000).grants]).toEqual([6_000, 2_900]);
    expect(figures.rates(179_000).grants).toBe(0);
  });

  it('name the busiest, however many others were granted less', () => {
    const figures = new Figures();
    for (let n = 0; n < 5_000; n += 1) {
      figures.granted(`a${n}`, n);
      if (n % 10 === 0) figures.granted('often', n);
      if (n % 100 === 0) figures.granted('at times', n);
    }
    const { busiest } = figures.rates(5_000);
    expect(busiest).toHaveLength(20);
    expect(busiest.slice(0, 2)).toEqual([
      { name: 'often', grants: 500 },
      { name: 'at times', grants: 50 },
    ]);
    figures.granted('late', 64_000);
    expect(figures.rates(70_000).busiest).toEqual([{ name: 'late', grants: 1 }]);
  });

  it('have the waits of those, too, whose grants were told by events', () => {
    const scene = new Scene();
    scene.look([member(1n)], [member(2n)]);
    scene.report(2, 'granted', 2);
    scene.look([member(2n)]);
    expect(scene.told).toEqual(['granted 2', 'gone 1']);
    expect(scene.history.rates(2_000)).toMatchObject({ grants: 1, waitMs: 2_000 });
  });
});

it('a history keeps the newest lines, and numbers them for ever', () => {
  const history = new History();
  for (let n = 0; n < 10_000; n += 1) history.report(`a${n}`, reportOf('missed', null), by(1), n);
  expect(history.next).toBe(10_000);
  expect(history.since(9_990).map(({ name }) => name)).toHaveLength(10);
  expect(history.since(0).length).toBeLessThanOrEqual(2_200);
  expect(history.since(10_000)).toEqual([]);
});
