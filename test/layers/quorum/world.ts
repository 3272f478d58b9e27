/**
 * Some clients of a quorum of memories, on a clock that jumps to the next event, in bad weather:
 * requests are late, lost, copied, refused; members fall silent for one client or for all, or lose
 * their memory.
 *
 * Checked at every grant and many times between: no two clients believe that they hold; whoever
 * does has, at so many members that the rest is no majority, either the vote or the quarantine;
 * tokens of one lineage grow. At the end nobody is left waiting, and the members are empty.
 */
import { createLocks, type Lease, type Locks } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { type ChaosStore, chaosStore, type SimulatedClock, simulatedClock } from 'holdfast/testkit';

export interface WorldOptions {
  readonly seed: number;
  readonly members: number;
  readonly clients: number;
  /** How many times each client wants the lock. */
  readonly rounds: number;
  /** Members lose their memory, too. */
  readonly forgets: boolean;
}

const TTL_MS = 1_000;
const NAME = 'resource';
/** How often beliefs are compared, in ms: often, as it costs nothing here. */
const LOOK_MS = 7;
/** Far more than all rounds should take, in ms: a wait that ends only here hangs. */
const PATIENCE_MS = 600_000;

interface Client {
  readonly label: string;
  readonly locks: Locks;
  readonly ways: readonly ChaosStore[];
  lease: Lease | undefined;
  done: number;
}

export class World {
  /** Grants in order, as text. */
  readonly grants: string[] = [];
  readonly #options: WorldOptions;
  readonly #clock: SimulatedClock;
  readonly #members: readonly MemoryStore[];
  readonly #quarantined: number[];
  readonly #clients: readonly Client[];
  readonly #last = new Map<string, bigint>();
  #problem: Error | undefined;
  #ended = false;

  constructor(options: WorldOptions) {
    const clock = simulatedClock(options.seed);
    this.#options = options;
    this.#clock = clock;
    this.#members = Array.from({ length: options.members }, () =>
      memoryStore({ clock, quarantine: TTL_MS }),
    );
    this.#quarantined = this.#members.map(() => 0);
    this.#clients = Array.from({ length: options.clients }, (_, i): Client => {
      const ways = this.#members.map((each) => chaosStore(each, { clock, lateMs: [50, 800] }));
      const label = `client ${i}`;
      const store = quorum(ways, { clock });
      const locks = createLocks(store, { clock, label, ttl: TTL_MS, maxTtl: TTL_MS });
      return { label, locks, ways, lease: undefined, done: 0 };
    });
  }

  /** @throws Error that says what was broken. */
  async run(): Promise<void> {
    const work = Promise.all(this.#clients.map((client) => this.#work(client)));
    void this.#watch();
    void this.#meddle();
    const late = this.#clock.sleep(PATIENCE_MS).then(() => {
      throw new Error(`Nobody got on: ${this.#clients.map(({ done }) => done).join(' ')}`);
    });
    try {
      await Promise.race([work, late]);
    } finally {
      late.catch(() => {});
      this.#ended = true;
    }
    if (this.#problem) throw this.#problem;
    await Promise.all(this.#clients.map(({ locks }) => locks.close({ drain: 0 })));
    await this.#clock.sleep(3 * TTL_MS);
    for (const member of this.#members) {
      const { holders, waiters } = await member.inspect(NAME);
      if (holders.length + waiters.length > 0) throw new Error('Claims are left behind.');
    }
    this.#clock.stop();
  }

  async #work(client: Client): Promise<void> {
    const lock = client.locks.mutex(NAME, { fair: this.#chance(0.5) });
    while (client.done < this.#options.rounds && !this.#problem) {
      await this.#clock.sleep(this.#upTo(300));
      const tries = this.#chance(0.2);
      // A store that failed for a whole TTL, or a lease that came too late: try again.
      const lease = await (tries ? lock.tryAcquire() : lock.acquire()).catch(() => null);
      if (!lease) continue;
      client.lease = lease;
      this.#granted(client, lease);
      await this.#clock.sleep(this.#chance(0.2) ? this.#upTo(3 * TTL_MS) : this.#upTo(50));
      await lease.release();
      client.lease = undefined;
      client.done++;
    }
  }

  #granted({ label }: Client, { token, lineage }: Lease): void {
    const last = this.#last.get(lineage) ?? -1n;
    this.grants.push(`${label} ${token}`);
    if (token <= last) this.#fail(`${label} has token ${token} after ${last}`);
    this.#last.set(lineage, token);
    void this.#compare();
  }

  async #watch(): Promise<void> {
    while (!this.#ended) {
      await this.#compare();
      await this.#clock.sleep(LOOK_MS);
    }
  }

  async #compare(): Promise<void> {
    const believers = this.#clients.filter(({ lease }) => lease?.held);
    if (believers.length > 1) this.#fail(`${believers.map(({ label }) => label)} all hold`);
    const [believer] = believers;
    if (!believer) return;
    const now = this.#clock.now();
    // In memory, an inspection is done before this function yields.
    const queues = this.#members.map((member) => member.inspect(NAME));
    const safe = await Promise.all(
      queues.map(async (queue, i) => {
        const [holder] = (await queue).holders;
        return holder?.holder.label === believer.label || (this.#quarantined[i] ?? 0) > now;
      }),
    );
    const others = safe.filter((each) => !each).length;
    if (believer.lease?.held && others > this.#members.length / 2) {
      this.#fail(`${believer.label} believes, but ${others} members are free for others`);
    }
  }

  /** One fault after another, never at more than a minority of the members at once. */
  async #meddle(): Promise<void> {
    const { members, forgets } = this.#options;
    const minority = Math.floor(members / 2);
    while (!this.#ended) {
      await this.#clock.sleep(this.#upTo(1_500));
      const chosen = new Set(Array.from({ length: minority }, () => this.#upTo(members - 1)));
      const silent = { loseRequest: 1 };
      const slow = { delayMs: [100, 400] } as const;
      const bad = this.#chance(0.5) ? silent : slow;
      const clients = this.#chance(0.5) ? this.#clients : [this.#clients[0] as Client];
      for (const i of chosen) {
        for (const { ways } of clients) ways[i]?.change(bad);
        const healthy = this.#quarantined.every((until) => until <= this.#clock.now());
        if (forgets && healthy && this.#chance(0.5)) {
          this.#quarantined[i] = this.#clock.now() + TTL_MS;
          this.#members[i]?.forget();
        }
      }
      await this.#clock.sleep(this.#upTo(2_500));
      for (const { ways } of clients) {
        for (const way of ways) way.change({ loseRequest: 0.03, delayMs: [0, 10] });
      }
    }
  }

  #fail(what: string): void {
    this.#problem ??= new Error(`${what}, after ${this.grants.slice(-5).join(', ')}`);
  }

  #chance(share: number): boolean {
    return this.#clock.random() < share;
  }

  #upTo(most: number): number {
    return Math.floor(this.#clock.random() * (most + 1));
  }
}
