/** What it costs that three servers have to agree: the same with one server and with three. */
import { versus } from '../contended/versus.ts';
import { uncontended } from '../uncontended.ts';
import { contest, name } from './places.ts';

const { contender, ofThree, url, FLOOR, OURS, WATCH_FLOOR } = contest;
const WAYS = [{ way: 'one after another', tasks: 1, pairs: 300 }];
const ROUNDS = 5;

const figure = `${name}/three`;
const names = [FLOOR, ofThree(FLOOR), 'holdfast', ofThree('holdfast')];
const contenders = new Map(
  await Promise.all(names.map(async (one) => [one, await contender(one)(url)] as const)),
);
await uncontended(figure, { contenders, ways: WAYS, rounds: ROUNDS });
await Promise.all(Array.from(contenders.values(), ({ close }) => close()));

const setting = {
  ...{ figure, url, contenders: [WATCH_FLOOR, ofThree(WATCH_FLOOR), OURS, ofThree(OURS)] },
  ...{ processes: 2, tasks: 2, rounds: 1, roundMs: 2_000, settleMs: 500 },
};
await versus<string>({ ...setting, crew: contest.crew() }, () => ({}));
