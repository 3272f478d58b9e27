import { describe, expect, test } from 'vitest';
import { AGAIN, seedsOf, shareOf } from '../../support/this-run.ts';
import { checkHistory, type HistoryRule, type HoldRecord } from './check-history.ts';
import { correctHistory } from './correct-history.ts';

const SEEDS = seedsOf(100);

const first: HoldRecord = {
  ...{ resource: 'r', kind: 'mutex', permits: 1, limit: 1, token: 1n, lineage: 'l', process: 1 },
  ...{ requestedAt: 0, grantedAt: 10, endedAt: 20, fair: true },
};

const second: HoldRecord = {
  ...first,
  ...{ token: 2n, requestedAt: 5, queuedAt: 6, grantedAt: 30, endedAt: 40, process: 2 },
};

const write = { kind: 'write', permits: 2 ** 30, limit: 2 ** 30 } as const;
const read = { kind: 'read', permits: 1, limit: 2 ** 30 } as const;
const permit = { kind: 'permits', permits: 1, limit: 2 } as const;

function rules(records: readonly HoldRecord[]): HistoryRule[] {
  return checkHistory(records).map((violation) => violation.rule);
}

describe('what is correct is accepted', () => {
  test('nothing, one hold, two in turn', () => {
    expect(rules([])).toEqual([]);
    expect(rules([first])).toEqual([]);
    expect(rules([first, second])).toEqual([]);
    expect(rules([second, first])).toEqual([]);
  });

  test('holds that touch', () => {
    expect(rules([first, { ...second, grantedAt: 20 }])).toEqual([]);
  });

  test('the same times on different resources', () => {
    expect(rules([first, { ...first, resource: 's' }])).toEqual([]);
  });

  test('tokens that start again in another lineage', () => {
    expect(rules([first, { ...second, token: 1n, lineage: 'm' }])).toEqual([]);
  });

  test('holds without tokens', () => {
    expect(
      rules([
        { ...first, token: undefined },
        { ...second, token: undefined },
      ]),
    ).toEqual([]);
  });

  test('readers at once, permits at once, whoever learned of it first', () => {
    for (const shape of [read, permit]) {
      const a = { ...first, ...shape, token: 2n, endedAt: 35 };
      const b = { ...second, ...shape, token: 1n };
      expect(rules([a, b])).toEqual([]);
    }
  });

  test('a reader that learns late of a grant that came before another', () => {
    const quick = { ...first, ...read, token: 2n, requestedAt: 5, grantedAt: 10, endedAt: 20 };
    const slow = { ...second, ...read, token: 1n, requestedAt: 0, grantedAt: 30, endedAt: 40 };
    expect(rules([quick, { ...slow, queuedAt: undefined }])).toEqual([]);
  });

  test('an unfair overtaking', () => {
    const late = { ...second, requestedAt: 7, queuedAt: 8, grantedAt: 9, endedAt: 9.5, token: 3n };
    const early = { ...first, requestedAt: 0, queuedAt: 1, token: 4n, fair: false };
    expect(rules([early, late])).toEqual([]);
  });

  test.each([false, true])('random histories, fair: %s', (fair) => {
    for (const seed of SEEDS) {
      const records = correctHistory(seed, { fair });
      expect(records.length).toBeGreaterThan(20);
      expect(checkHistory(records), `seed ${seed}, ${AGAIN}`).toEqual([]);
    }
  });
});

describe('what is wrong is found, with the records that prove it', () => {
  const wrong: [what: string, rule: HistoryRule, records: HoldRecord[]][] = [
    ['two holders of a mutex', 'exclusive', [first, { ...second, grantedAt: 19 }]],
    ['one inside the other', 'exclusive', [{ ...first, endedAt: 50 }, second]],
    [
      'two writers',
      'exclusive',
      [
        { ...first, ...write },
        { ...second, ...write, grantedAt: 15 },
      ],
    ],
    [
      'a writer among readers',
      'shared',
      [
        { ...first, ...read },
        { ...second, ...write, grantedAt: 15 },
      ],
    ],
    [
      'a reader beside a writer',
      'shared',
      [
        { ...first, ...write },
        { ...second, ...read, grantedAt: 15 },
      ],
    ],
    [
      'more permits than the limit',
      'permits',
      [
        { ...first, ...permit },
        { ...second, ...permit, permits: 2, grantedAt: 15 },
      ],
    ],
    ['more permits than there are', 'permits', [{ ...first, ...permit, permits: 3 }]],
    [
      'a smaller limit overlooked',
      'permits',
      [
        { ...first, ...permit, limit: 1 },
        { ...second, ...permit, grantedAt: 15 },
      ],
    ],
    ['kinds that do not go together', 'kind', [first, { ...second, ...permit, grantedAt: 15 }]],
    ['a token used twice', 'tokens', [first, { ...second, token: 1n }]],
    ['a token that is lower', 'tokens', [first, { ...second, token: 0n }]],
    [
      'a lower token of a reader who asked after another held',
      'tokens',
      [
        { ...first, ...read, token: 5n, endedAt: 50 },
        { ...second, ...read, requestedAt: 25, queuedAt: 26 },
      ],
    ],
    [
      'a fair claim that was overtaken',
      'fifo',
      [
        { ...second, requestedAt: 0, queuedAt: 1 },
        { ...first, requestedAt: 2, token: 1n },
      ],
    ],
    [
      'a big fair claim that a small one overtook',
      'fifo',
      [
        { ...second, ...permit, permits: 2, requestedAt: 0, queuedAt: 1 },
        { ...first, ...permit, requestedAt: 2, token: 1n },
      ],
    ],
    ['a grant before its request', 'times', [{ ...first, requestedAt: 11 }]],
    ['an end before the grant', 'times', [{ ...first, endedAt: 9 }]],
    ['a time that is none', 'times', [{ ...first, grantedAt: Number.NaN }]],
  ];

  test.each(wrong)('%s', (_what, rule, records) => {
    for (const shuffled of [records, [...records].reverse()]) {
      const violations = checkHistory(shuffled);
      expect(violations.map((each) => each.rule)).toContain(rule);
      const [violation] = violations.filter((each) => each.rule === rule);
      expect(new Set(violation?.records)).toEqual(new Set(records));
      expect(violation?.message).toContain('r: ');
    }
  });
});

describe('corruptions of random histories are found', () => {
  const exclusive = (record: HoldRecord) => record.kind === 'mutex' || record.kind === 'write';

  /** Each gets two records in order of grant, the second being the next grant of the resource. */
  const corruptions: [
    what: string,
    rules: HistoryRule[],
    applies: (a: HoldRecord, b: HoldRecord) => boolean,
    corrupt: (a: HoldRecord, b: HoldRecord) => [HoldRecord, HoldRecord],
  ][] = [
    [
      'a hold that outlives the next grant',
      ['exclusive', 'shared'],
      (a, b) => (exclusive(a) || exclusive(b)) && b.endedAt > b.grantedAt,
      (a, b) => [{ ...a, endedAt: b.grantedAt + (b.endedAt - b.grantedAt) / 2 }, b],
    ],
    [
      'tokens that change places',
      ['tokens'],
      (a, b) => exclusive(a) && exclusive(b),
      (a, b) => [
        { ...a, token: b.token },
        { ...b, token: a.token },
      ],
    ],
    ['a token used twice', ['tokens'], () => true, (a, b) => [a, { ...b, token: a.token }]],
    [
      'a token that starts again',
      ['tokens'],
      (a, b) => exclusive(a) && exclusive(b),
      (a, b) => [a, { ...b, token: 0n }],
    ],
    [
      'more permits than there are',
      ['permits'],
      (_, b) => b.kind === 'permits',
      (a, b) => [a, { ...b, permits: b.limit + 1 }],
    ],
    [
      'a stranger in the queue',
      ['kind'],
      (a, b) => a.kind === 'permits' && a.endedAt > b.grantedAt,
      (a, b) => [a, { ...b, kind: 'mutex' }],
    ],
    [
      'a fair claim that waited all the time',
      ['fifo'],
      (a, b) => exclusive(a) && exclusive(b) && a.requestedAt > 2,
      (a, b) => [a, { ...b, requestedAt: 0, queuedAt: 1 }],
    ],
    [
      'a grant before its request',
      ['times'],
      () => true,
      (a, b) => [a, { ...b, requestedAt: b.grantedAt + 1 }],
    ],
  ];

  test.each(corruptions)('%s', (_what, expected, applies, corrupt) => {
    let tried = 0;
    for (const seed of SEEDS) {
      const records = correctHistory(seed, { fair: true });
      const at = records.findIndex((record, i) => {
        const next = records[i + 1];
        return next && next.resource === record.resource && applies(record, next);
      });
      if (at < 0) continue;
      tried++;
      const [a, b] = corrupt(records[at] as HoldRecord, records[at + 1] as HoldRecord);
      const violations = checkHistory(records.with(at, a).with(at + 1, b));
      const proof = violations.filter(
        (each) =>
          expected.includes(each.rule) && (each.records.includes(a) || each.records.includes(b)),
      );
      expect(proof.length, `seed ${seed}, ${AGAIN}`).toBeGreaterThan(0);
    }
    expect(tried).toBeGreaterThan(shareOf(20));
  });
});

test('what is wrong in two ways is told once', () => {
  const late = { ...second, token: 0n, requestedAt: 25, queuedAt: 26 };
  expect(rules([first, late])).toEqual(['tokens']);
});
