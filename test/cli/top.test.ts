/** All queues at a glance, live. */
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { letGo, Place, type Program } from './program.ts';

it('shows the longest wait first, then the longest hold, until it is interrupted', async () => {
  const place = new Place();
  const commands: Program[] = [];
  for (const name of ['idle', 'late', 'early']) commands.push(await place.hold(name));
  for (const name of ['early', 'late']) commands.push(await place.wait('run', name, '--', 'true'));
  const top = place.start(['top']);
  await until(() => top.out.split('3 in use, 2 waiting').length > 2);
  const [, heading = '', ...rows] = top.out.split('\n');
  expect(heading).toMatch(/^name +used +held by +for +waiting +first for$/);
  expect(rows.slice(0, 3).map((row) => row.split(' ')[0])).toEqual(['early', 'late', 'idle']);
  const json = place.start(['top', 'l', '--json']);
  await json.says('\n');
  const { queues } = JSON.parse(json.out.split('\n')[0] ?? '');
  expect(queues).toMatchObject([{ resource: 'late', why: 'held' }]);
  for (const each of [top, json]) {
    each.kill('SIGINT');
    expect(await each.fate).toMatchObject({ status: 0, err: '' });
  }
  await letGo(...commands);
});
