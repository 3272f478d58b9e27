/** A store of etcd whose requests can be lost, and carried out later. */
import { type Store, StoreError } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { expect } from 'vitest';
import type { EtcdClient, Txn } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { entryOf } from '../../clients/etcd/scene.ts';
import { mortal, TTL_MS } from '../../methods/faults/expiry.ts';
import type { EtcdServer } from '../../servers/etcd-server.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

const UNKNOWN = { retryable: true, outcome: 'unknown' } as const;

export class LossyScene extends Bed {
  readonly client: EtcdClient;
  readonly lossy: Store;
  readonly #lost: Txn[] = [];
  #losing = '';

  constructor(server: EtcdServer) {
    super(server);
    this.client = this.use(etcdClient(server.clientUrl));
    const txn: EtcdClient['txn'] = (asked) => {
      if (this.#losing === '' || !written(asked).includes(this.#losing)) {
        return this.client.txn(asked);
      }
      this.#losing = '';
      this.#lost.push(asked);
      return Promise.reject(new StoreError('No answer came.', UNKNOWN));
    };
    this.lossy = this.storeOf({ ...this.client, txn, close: () => {} });
  }

  /** Nobody hears of it. */
  async claimInVain(claim: Claim): Promise<void> {
    this.#losing = claim.id;
    expect(await this.lossy.claim([claim])).toMatchObject([{ state: 'error' }]);
  }

  /** One that lives, and another on the same lease, whose claim got no answer. */
  async keptAndLate(): Promise<readonly [kept: Claim, late: Claim]> {
    const [kept, late] = [mortal('kept'), mortal('late')];
    await this.lossy.claim([kept]);
    await this.claimInVain(late);
    return [kept, late];
  }

  async releaseInVain(claim: Claim): Promise<void> {
    this.#losing = claim.id;
    await expect(this.lossy.release([claim])).rejects.toMatchObject({ code: 'STORE' });
  }

  /** The claims that were lost are carried out now. */
  async arrive(): Promise<void> {
    for (const txn of this.#lost) if (written(txn).includes('"put"')) await this.client.txn(txn);
  }

  async stands({ resource, id }: Claim): Promise<boolean> {
    return (await entryOf(this.client, this.keys.claim(resource, id))) !== undefined;
  }

  async leaseOf({ resource, id }: Claim): Promise<bigint> {
    return (await entryOf(this.client, this.keys.claim(resource, id)))?.lease ?? 0n;
  }

  /** These are kept alive until something has come about. */
  async beating(claims: readonly Claim[], come: () => Promise<boolean>): Promise<void> {
    await until('did it come about', async () => {
      const states = (await this.lossy.renew(claims)).map(({ state }) => state);
      expect(states).toEqual(claims.map(() => 'held'));
      return come();
    });
  }

  /** Their lease has been kept alive anew. */
  async aHeartbeat(...claims: readonly Claim[]): Promise<void> {
    const end = performance.now() + TTL_MS / 3;
    await this.beating(claims, async () => performance.now() > end);
  }
}

function written(txn: Txn): string {
  return JSON.stringify(txn, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}
