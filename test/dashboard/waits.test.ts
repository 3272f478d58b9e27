/** The picture of who waits for whom. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edgesOf, isOn, isUpon, labelsOf, sizeOf } from '../../src/dashboard/ui/graph/geometry.ts';
import { pictureOf } from '../../src/dashboard/ui/graph/picture.ts';
import type { QueueRow, QueueWait, Seat } from '../../src/dashboard/wire.ts';
import { cases } from '../support/cases.ts';

/** `a: 1 < 2 3`: process 1 holds `a`, for which 2 and 3 wait. */
function rowOf(text: string): QueueRow {
  const [, name = '', holders = '', waiters = ''] =
    /^(\w+): ([\d ]*?) ?< ?([\d ]*)$/.exec(text) ?? [];
  const seats = (pids: string, holds: boolean): Seat[] =>
    (pids.match(/\d+/g) ?? []).map((pid) => ({
      ...{ token: `${name}${pid}`, holds, kind: 'mutex', permits: 1, host: 'api' },
      ...{ pid: Number(pid), label: null, since: 0, ttlMs: 1, endsAt: 1 },
    }));
  const [held, waiting] = [seats(holders, true), seats(waiters, false)];
  return {
    ...{ name, limit: 1, election: false, holding: held.length, waiting: waiting.length },
    seats: [...held, ...waiting],
  };
}

const draw = (...queues: readonly string[]) => pictureOf(queues.map(rowOf), []);

/** `1: a > b`: a task of process 1 holds `a`, and waits for `b`; with `!` all have confirmed it. */
function waitOf(text: string): QueueWait {
  const [, pid, holds = '', name = '', sure] = /^(\d+): ([\w ]*?) > (\w+)(!?)$/.exec(text) ?? [];
  const who = { host: 'api', pid: Number(pid), label: null };
  const held = holds.split(' ').map((each) => ({ name: each, token: `${each} of ${pid}` }));
  return { ...who, id: text, name, holds: held, deadlocked: sure === '!' };
}

const drawWith = (waits: readonly string[], ...queues: readonly string[]) =>
  pictureOf(queues.map(rowOf), waits.map(waitOf));

describe('the picture', () => {
  it('has no arrow from a standby, which waits for nothing', () => {
    const elections = ['a: 1 < 2', 'b: 2 < 1'].map((text) => ({ ...rowOf(text), election: true }));
    const { nodes, edges } = pictureOf(elections, []);
    expect([nodes, edges]).toEqual([[], []]);
  });

  it('has an arrow from each that waits to each that holds', () => {
    const { nodes, edges, cycles } = draw('a: 1 < 2 3', 'b: 4 <');
    expect(nodes.map(({ place }) => place).sort()).toEqual(['api · 1', 'api · 2', 'api · 3']);
    expect(edges.map(({ from, to, may }) => [from.place, to.place, may])).toEqual([
      ['api · 2', 'api · 1', false],
      ['api · 3', 'api · 1', false],
    ]);
    expect(cycles).toBe(0);
  });

  it('has only perhaps an arrow on from a process that others wait for', () => {
    const { edges } = draw('a: 1 < 2', 'b: 2 < 3');
    const may = edges.map((edge) => [edge.names.join(), edge.may]);
    expect(Object.fromEntries(may)).toEqual({ a: true, b: false });
  });

  it('marks a circle, and not what only leads to it', () => {
    const { nodes, edges, cycles } = draw('a: 1 < 2', 'b: 2 < 3', 'c: 3 < 1', 'd: 3 < 4');
    expect(cycles).toBe(1);
    expect(nodes.filter(({ mark }) => !mark).map(({ place }) => place)).toEqual(['api · 4']);
    expect(edges.filter(({ mark }) => mark === 'cycle')).toHaveLength(3);
  });

  it('takes a process that queues behind itself for no circle, for however many names', () => {
    const { cycles, deadlocks, nodes, edges } = draw('a: 1 < 1', 'b: 1 < 1 1');
    expect([cycles, deadlocks, nodes.map(({ mark }) => mark)]).toEqual([0, 0, [undefined]]);
    expect(edges.map(({ names }) => names)).toEqual([['a', 'b']]);
  });

  it('takes a circle for a deadlock for certain only if its tasks have confirmed it', () => {
    const queues = ['a: 1 < 2', 'b: 2 < 1'];
    expect(drawWith([], ...queues)).toMatchObject({ cycles: 1, deadlocks: 0 });
    const unsure = drawWith(['1: a > b', '2: b > a'], ...queues);
    expect(unsure).toMatchObject({ cycles: 1, deadlocks: 0 });
    const sure = drawWith(['1: a > b!', '2: b > a!'], ...queues);
    expect(sure).toMatchObject({ cycles: 0, deadlocks: 1 });
    expect(sure.edges.map(({ mark, may }) => [mark, may])).toEqual([
      ['deadlock', false],
      ['deadlock', false],
    ]);
  });

  it('shows two tasks of one process that wait for each other, whom no queue shows', () => {
    const { nodes, deadlocks } = drawWith(['1: a > b!', '1: b > a!'], 'a: 1 <', 'b: 1 <');
    expect(deadlocks).toBe(1);
    expect(nodes.map(({ place }) => place)).toEqual(['api · 1', 'api · 1']);
  });

  it('leads on only from what a task holds whose wait is published', () => {
    // The task of 1 that waits for b holds c: that 2 waits for a has nothing to do with it.
    const { cycles, edges } = drawWith(['1: c > b'], 'a: 1 < 2', 'b: 2 < 1', 'c: 1 <');
    expect(cycles).toBe(0);
    expect(edges.map(({ names, may }) => [...names, may])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  it('shows the other task that holds permits beside one that waits for two names', () => {
    const permits = { ...rowOf('gpu: 1 1 < 2'), limit: 2 };
    const waits = ['1: gpu > a', '1: gpu > b'].map(waitOf);
    const { edges } = pictureOf([permits, rowOf('a: 3 <'), rowOf('b: 3 <')], waits);
    const from = edges.filter(({ names }) => names.includes('gpu'));
    expect(from.map(({ to }) => to.id).sort()).toEqual([
      ...['api\n1', 'wait 1: gpu > a', 'wait 1: gpu > b'],
    ]);
  });

  it('has a label on the first of the arrows that say the same', () => {
    const [label, ...others] = labelsOf(draw('a: 1 < 2 3'));
    expect([label?.edge.from.y, others]).toEqual([0, []]);
  });

  it('leads an arrow over a column past its boxes', () => {
    const { edges, nodes } = draw('a: 1 < 2 3', 'b: 2 < 3');
    const [far] = edges.filter(({ from, to }) => to.x - from.x === 2);
    expect(far?.via).toHaveLength(1);
    const taken = nodes.map(({ x, y }) => `${x} ${y}`);
    expect(taken).not.toContain(far?.via.map(({ x, y }) => `${x} ${y}`).join());
  });

  it('gives each process a place of its own, those that hold at the right', () => {
    const { nodes } = draw('a: 1 < 2', 'b: 2 < 3 4 5', 'c: 6 < 7');
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
    const column = (pid: number) => nodes.find(({ place }) => place === `api · ${pid}`)?.x;
    expect([column(3), column(2), column(1)]).toEqual([0, 1, 2]);
  });

  it('draws the circle and the busiest of very many', () => {
    const queues = Array.from({ length: 200 }, (_, n) => `q${n}: ${1000 + n} < ${2000 + n}`);
    const { nodes, hidden, cycles } = draw('a: 1 < 2', 'b: 2 < 1', ...queues);
    expect(nodes).toHaveLength(40);
    expect([hidden, cycles]).toEqual([362, 1]);
    expect(nodes.filter(({ mark }) => mark)).toHaveLength(2);
  });
});

describe('labels', () => {
  it('are upon no box and no other label, and in the picture', () => {
    const pids = (maxLength: number) =>
      fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength });
    const queue = fc.tuple(pids(3), pids(4)).map((all) => all.map((each) => each.join(' ')));
    fc.assert(
      fc.property(fc.array(queue, { minLength: 1, maxLength: 12 }), (queues) => {
        const picture = draw(...queues.map((both, n) => `q${n}: ${both.join(' < ')}`));
        const labels = labelsOf(picture);
        const { height } = sizeOf(picture, labels);
        labels.forEach((label, n) => {
          expect(picture.nodes.filter((node) => isOn(label, edgesOf(node)))).toEqual([]);
          expect(labels.slice(n + 1).filter((other) => isUpon(label, other))).toEqual([]);
          expect(label.y).toBeLessThan(height);
        });
      }),
      cases(200),
    );
  });

  it('that are pushed away go past the boxes below', () => {
    const queues = ['q: 6 < 2 3', 'r: 2 < 3 2', 's: 1 < 6 7', 't: 6 < 3 1', 'u: 3 < 6 5'];
    const picture = draw(...queues);
    const labels = labelsOf(picture);
    const boxes = picture.nodes.map(edgesOf);
    const hidden = labels.filter((label) => boxes.some((box) => isOn(label, box)));
    expect([labels.length, hidden]).toEqual([6, []]);
  });
});
