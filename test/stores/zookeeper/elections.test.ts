/** Leaders and standbys. */

import { createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import type { Claim } from 'holdfast/store';
import { afterAll, describe, expect, test } from 'vitest';
import { sleep } from '../../methods/faults/bed.ts';
import { electedProcesses, elections, seatOf } from '../../methods/faults/elections.ts';
import { Observer, Race } from '../../methods/faults/race.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startZookeeper();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

describe('candidates', () => elections(newBed, 'counts'));

describe('candidates that are processes', () => electedProcesses(newBed));

/** Its session fits a server whose sessions are short. */
const mortal = (label: string): Claim => seatOf(label, { ttlMs: 2500 });

describe('an observer', () => {
  test('that was cut off is told that others were missed only if they may have been', async () => {
    await using bed = newBed();
    const proxy = bed.serve(await TcpProxy.start(server.port));
    const race = new Race(bed, server);
    const observer = race.observe(proxy);
    await observer.sees('|');
    const away = async (work: () => Promise<unknown>): Promise<void> => {
      proxy.refuse();
      proxy.reset();
      await work();
      await proxy.accept();
    };
    await race.stand('a');
    await observer.sees('a|');
    await away(async () => {});
    await race.stand('b');
    await observer.sees('a|b');
    await away(() => race.stand('c'));
    await observer.sees('a|b c');
    await away(async () => {
      await (await race.stand('d')).resign();
      await race.observer.sees('a|b c');
    });
    await race.stand('e');
    await observer.sees('a|b c e');
    expect(observer.marked).toEqual(['|', 'a|', 'a|b', 'a|b c', '...a|b c e']);
    await race.leave();
  });

  test('whose session has ended goes on in another one', async () => {
    // Its sessions are never longer than 4 s.
    const strict = await startZookeeper({ config: ['maxSessionTimeout=4000'] });
    await using bed = newBed();
    bed.use(strict);
    const proxy = bed.serve(await TcpProxy.start(strict.port));
    const locks = createLocks(bed.store(proxy));
    bed.use({ close: () => locks.close({ drain: 0 }) });
    const observer = new Observer(createElection(locks, 'office').observe());
    const store = bed.store(strict);
    const [a, b, c] = [mortal('a'), mortal('b'), mortal('c')];
    await observer.sees('|');
    await store.claim([a]);
    await observer.sees('a|');
    await store.release([a]);
    await observer.sees('|');
    proxy.refuse();
    proxy.reset();
    await store.claim([b]);
    await store.release([b]);
    // Longer than the session lives.
    await sleep(5000);
    await proxy.accept();
    await store.claim([c]);
    await observer.sees('c|');
    await store.release([c]);
    await observer.sees('|');
    expect(observer.marked).toEqual(['|', 'a|', '|', '...c|', '|']);
    await locks.close({ drain: 0 });
    await observer.over;
  });
});
