/** What `top` shows and does for each key, as a value; test/cli/terminal.test.ts presses them. */
import type { Member, Queue } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { keysOf } from '../../../src/cli/top/keys.ts';
import { screenLines } from '../../../src/cli/top/screen.ts';
import { type Pressed, press, START, type TopView } from '../../../src/cli/top/view.ts';

let tokens = 0n;

function member(since: number): Member {
  const holder = { host: 'here', pid: 7, since: Date.now() - since };
  return { number: ++tokens, kind: 'mutex', permits: 1, ttlMs: 1_000, leftMs: 900, holder };
}

function queue(resource: string, heldMs: number, ...waitMs: number[]): Queue {
  return { resource, limit: 1, holders: [member(heldMs)], waiters: waitMs.map(member) };
}

const QUEUES = [
  queue('idle', 30_000),
  queue('late', 20_000, 5_000),
  queue('job:1', 9_000, 8_000, 1),
];

const SCREEN = { size: { rows: 24, columns: 80 }, coloured: false };

function shown(view: TopView, queues: readonly Queue[] = QUEUES, rows = 24): readonly string[] {
  return screenLines(view, queues, { ...SCREEN, size: { rows, columns: 80 } });
}

/** The names in their order, and the mark of what is selected. */
function names(view: TopView, queues = QUEUES): readonly string[] {
  const [, , ...lines] = shown(view, queues);
  return lines.slice(0, -2).map((line) => line.replace(/^(. \S+).*/, '$1'));
}

function typed(keys: string, queues = QUEUES, view: TopView = START): Pressed {
  let pressed: Pressed = { view };
  for (const key of keysOf(keys)) pressed = press(pressed.view, key, queues);
  return pressed;
}

const ENTER = '\r';
const ESCAPE = '\u001b';
const DOWN = `${ESCAPE}[B`;
const UP = `${ESCAPE}OA`;

it('keys are signs, and names of those without one', () => {
  const keys = keysOf(`a${UP}${DOWN}é\u007f${ENTER}`);
  expect(keys.join()).toBe('a,up,down,é,backspace,enter');
  expect(keysOf(ESCAPE)).toEqual(['escape']);
  // Of keys that mean nothing here, no part is taken for a letter.
  expect(keysOf(`${ESCAPE}[15~${ESCAPE}[1;5C\u0001q`)).toEqual(['q']);
});

describe('the list', () => {
  it('is sorted in turn by wait, hold, waiters and name', () => {
    expect(names(START)).toEqual(['> job:1', '  late', '  idle']);
    expect(names(typed('s').view)).toEqual(['> idle', '  late', '  job:1']);
    expect(names(typed('ss').view)).toEqual(['> job:1', '  late', '  idle']);
    expect(names(typed('sss').view)).toEqual(['> idle', '  job:1', '  late']);
    expect(typed('ssss').view.order).toBe(START.order);
  });

  it('takes no standby of an election for a waiter', () => {
    const { holders, waiters, ...rest } = queue('leader', 60_000, 50_000, 40_000);
    const candidate = (one: Member): Member => {
      return { ...one, kind: 'permits', holder: { ...one.holder, mark: 'candidate' } };
    };
    const members = { holders: holders.map(candidate), waiters: waiters.map(candidate) };
    const queues = [...QUEUES, { ...rest, ...members }];
    expect(shown(START, queues)[0]).toBe('4 in use, 3 waiting; longest wait first');
    expect(names(START, queues)).toEqual(['> job:1', '  late', '  leader', '  idle']);
    expect(names(typed('ss').view, queues)).toEqual(['> job:1', '  late', '  idle', '  leader']);
    expect(shown(START, queues)[4]).toMatch(/ 1 of 1 +leader here pid 7 .* 2 on standby$/);
  });

  it('is filtered while that is typed, until Escape', () => {
    expect(names(typed('/la').view)).toEqual(['> late']);
    expect(shown(typed('/la').view).at(-1)).toBe('Names with: la');
    expect(names(typed('/lax\u007f').view)).toEqual(['> late']);
    const { view } = typed(`/la${ENTER}`);
    expect(shown(view)[0]).toBe('1 in use, 1 waiting, with "la"; longest wait first');
    expect(names(typed(ESCAPE, QUEUES, view).view)).toHaveLength(3);
  });

  it('keeps what is selected where it goes', () => {
    const { view } = typed(DOWN);
    expect(names(view)).toEqual(['  job:1', '> late', '  idle']);
    expect(names(typed('s', QUEUES, view).view)).toEqual(['  idle', '> late', '  job:1']);
    expect(names(typed(`${DOWN}${DOWN}${DOWN}`, QUEUES, view).view)[2]).toBe('> idle');
    const gone = QUEUES.filter(({ resource }) => resource !== 'late');
    expect(names(view, gone)).toEqual(['> job:1', '  idle']);
  });

  it('shows what is selected on a small screen', () => {
    const many = Array.from({ length: 50 }, (_, n) => queue(`job:${n}`, n));
    const { view } = typed(DOWN.repeat(40), many);
    const lines = shown(view, many, 10);
    expect(lines.length).toBeLessThan(10);
    expect(lines.some((line) => line.startsWith('> '))).toBe(true);
  });

  it('is left with q, ^C, or the end of the input', () => {
    for (const key of ['q', '\u0003', '\u0004']) expect(typed(key).quits).toBe(true);
    expect(typed('/\u0003').quits).toBe(true);
    // It is typed here.
    expect(typed('/q')).toMatchObject({ view: { filter: 'q' } });
    expect(typed('/q').quits).toBeUndefined();
  });
});

describe('a queue', () => {
  const [waiter] = QUEUES[1]?.waiters ?? [];
  const late = typed(`/late${ENTER}${ENTER}`).view;

  it('shows its holders and waiters, and is left with Escape', () => {
    const [heading, , ...lines] = shown(late);
    expect(heading).toBe('late: 1 holding, 1 waiting');
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^> holds /),
      expect.stringMatching(new RegExp(`^ {2}waits +${waiter?.number} `)),
    ]);
    expect(names(typed(ESCAPE, QUEUES, late).view)).toEqual(['> late']);
    expect(shown(late, [])[0]).toBe('late: no holders, no waiters');
  });

  it('evicts what is selected after a reason and the name', () => {
    const asked = typed(`${DOWN}e`, QUEUES, late).view;
    expect(shown(asked).at(-1)).toBe(`Why is ${waiter?.number} evicted? `);
    const why = typed(`it hangs${ENTER}`, QUEUES, asked).view;
    expect(shown(why).at(-1)).toBe(`Type late to evict ${waiter?.number}: `);
    // Others come first meanwhile.
    const moved = [{ ...queue('late', 1, 2), holders: [] }];
    expect(typed(`late${ENTER}`, moved, why)).toMatchObject({
      evicts: { name: 'late', token: waiter?.number, reason: 'it hangs' },
      view: { typing: undefined },
    });
  });

  const MISNAMED = 'Not evicted: that is not the name of the lock.';

  it.each([
    ['without a reason', `e ${ENTER}`, 'Not evicted: say why.'],
    ['without the name', `ewhy${ENTER}${ENTER}`, MISNAMED],
    ['for another name', `ewhy${ENTER}lat${ENTER}`, MISNAMED],
    ['after Escape', `ewhy${ENTER}late${ESCAPE}`, 'Not evicted.'],
  ])('evicts nothing %s', (_, keys, notice) => {
    const { view, evicts } = typed(keys, QUEUES, late);
    expect(evicts).toBeUndefined();
    expect(shown(view).at(-1)).toBe(notice);
    expect(typed(DOWN, QUEUES, view).view.notice).toBeUndefined();
  });
});
