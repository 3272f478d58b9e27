/**
 * Floors: the fewest requests that do the work, with nothing around them, by the same client.
 *
 * Uncontended, a key is put if it is not there, and deleted. Contended, each task puts a key of its
 * own, and holds when all before it have been deleted, as one watch for each process tells. None
 * looks whether its own key is still there, or how the hold before ended. One lease lasts for all.
 */
import { type EtcdClient, etcdClient } from 'holdfast/etcd';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';

const BEATS = 3;

async function leased(url: string): Promise<{ client: EtcdClient; lease: bigint; end(): void }> {
  const client = etcdClient(url);
  const { id: lease } = await client.grant(TTL_MS);
  const timer = setInterval(() => client.keepAlive(lease).catch(() => {}), TTL_MS / BEATS);
  const end = (): void => {
    clearInterval(timer);
    client.close();
  };
  return { client, lease, end };
}

/** Puts a key that is not there. */
async function put(client: EtcdClient, key: string, lease: bigint): Promise<void> {
  const { succeeded } = await client.txn({
    compare: [{ target: 'create', is: '=', key, to: 0n }],
    success: [{ put: { key, value: '', lease } }],
  });
  if (!succeeded) throw new Error(`${key} is taken.`);
}

async function putAndDelete(url: string): Promise<Connected> {
  const { client, lease, end } = await leased(url);
  return {
    task: (resource) => async () => {
      const key = `bare/${resource}`;
      await put(client, key, lease);
      return () => client.txn({ success: [{ delete: { key } }] });
    },
    close: () => end(),
  };
}

/** As `Lock` of the package etcd3 does: a lease of its own for each hold, which is revoked. */
function grantAndRevoke(url: string): Connected {
  const client = etcdClient(url);
  return {
    task: (resource) => async () => {
      const { id: lease } = await client.grant(TTL_MS);
      await put(client, `granted/${resource}`, lease);
      return () => client.revoke(lease);
    },
    close: () => client.close(),
  };
}

async function queueAndWatch(url: string): Promise<Connected> {
  const { client, lease, end } = await leased(url);
  const queues = new Map<string, Promise<BareQueue>>();
  let count = 0;
  return {
    task: (resource) => async () => {
      const queue = queues.get(resource) ?? BareQueue.follow(client, `queue/${resource}`);
      queues.set(resource, queue);
      const key = `queue/${resource}/${lease.toString(16)}-${++count}`;
      const turn = (await queue).turnOf(key);
      await client.txn({ success: [{ put: { key, value: '', lease } }] });
      await turn;
      return () => client.txn({ success: [{ delete: { key } }] });
    },
    close: () => end(),
  };
}

class BareQueue {
  readonly #keys = new Set<string>();
  readonly #turns = new Map<string, () => void>();

  static async follow(client: EtcdClient, of: string): Promise<BareQueue> {
    const queue = new BareQueue();
    await new Promise<void>((resolve) => {
      client.watch({
        ...{ key: `${of}/`, end: `${of}0`, started: () => resolve(), lost: () => {} },
        changed: (changes) => {
          for (const { deleted, kv } of changes) {
            if (deleted) queue.#keys.delete(kv.key);
            else queue.#keys.add(kv.key);
          }
          queue.#tell();
        },
      });
    });
    // Who came before the watch, which is exact only at the end of it.
    const range = { key: `${of}/`, end: `${of}0`, oldestFirst: true, keysOnly: true };
    const { answers } = await client.txn({ success: [{ range }] });
    const known = answers[0] && 'range' in answers[0] ? answers[0].range.kvs : [];
    const later = [...queue.#keys];
    queue.#keys.clear();
    for (const key of [...known.map((kv) => kv.key), ...later]) queue.#keys.add(key);
    return queue;
  }

  turnOf(key: string): Promise<void> {
    return new Promise((resolve) => this.#turns.set(key, resolve));
  }

  #tell(): void {
    const [first = ''] = this.#keys;
    this.#turns.get(first)?.();
    this.#turns.delete(first);
  }
}

export const WATCH_FLOOR = 'floor: queue and watch';

export const floors: Readonly<Record<string, Connect>> = {
  'floor: put and delete': putAndDelete,
  'floor: grant, put, revoke': grantAndRevoke,
  [WATCH_FLOOR]: queueAndWatch,
};
