/**
 * What about a server makes locks on it less than they promise, found before the first grant.
 *
 * A hazard is a configuration in which a claim may vanish, or live on where nobody sees it. It is
 * told once as a warning of the process; with `refuse`, nothing is claimed on such a server. What
 * makes locks impossible is always refused.
 */
import { StoreError } from '../../errors.ts';
import type { Link, Reply } from './client.ts';
import { refusalCode } from './errors.ts';

export type HazardName =
  | 'HOLDFAST_EVICTION'
  | 'HOLDFAST_SPLIT_PRIMARY'
  | 'HOLDFAST_CLOCK_JUMP'
  | 'HOLDFAST_NO_WAKE'
  | 'HOLDFAST_UNKNOWN_SERVER';

/** The oldest server whose scripts may run when memory is full. */
const OLDEST = 7;

export class Hazards {
  readonly #link: Link;
  readonly #refuse: boolean;
  readonly #told = new Set<HazardName>();
  #checked: Promise<void> | undefined;
  #found: StoreError | undefined;

  constructor(link: Link, refuse: boolean) {
    this.#link = link;
    this.#refuse = refuse;
  }

  /** Looks at the server of this key, once or `anew`; resolved to nothing when all is well. */
  check(key: string, anew = false): Promise<void> | undefined {
    if (this.#checked === DONE && !anew) return undefined;
    if (!anew && this.#checked) return this.#checked;
    const checked = this.#look(key).then(
      () => {
        this.#checked = DONE;
      },
      (error: unknown) => {
        this.#checked = undefined;
        throw error;
      },
    );
    this.#checked = checked;
    return checked;
  }

  /** What has happened already, and cannot be refused. */
  readonly clockJumped = (ms: number): void => {
    const way = ms > 0 ? `${Math.round(ms)} ms ahead` : `back by ${Math.round(-ms)} ms`;
    const harm = ms > 0 ? 'have ended before their time' : 'live longer than their holders';
    this.#warn('HOLDFAST_CLOCK_JUMP', `The server's clock has jumped ${way}: locks ${harm}.`);
  };

  /** No danger, but slow, and hard to find. What else is refused, claims are told as well. */
  readonly deaf = (error: StoreError): void => {
    if (refusalCode(error) !== 'NOPERM') return;
    const message =
      'The server does not let this user SUBSCRIBE, so whoever waits for a lock asks now and then' +
      ' instead of being woken. docs/stores/redis.md has the ACL that is needed.';
    this.#warn('HOLDFAST_NO_WAKE', message);
  };

  #raise(name: HazardName, message: string): void {
    if (!this.#refuse) return this.#warn(name, message);
    this.#found = new StoreError(`${message} (${name})`, { retryable: false, outcome: 'failed' });
  }

  #warn(name: HazardName, message: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    process.emitWarning(message, { type: 'HoldfastWarning', code: name });
  }

  async #look(key: string): Promise<void> {
    const info = fieldsOf(await this.#link.send(key, ['INFO', 'everything']));
    this.#found = undefined;
    const version = Number.parseInt(info.get('redis_version') ?? '', 10);
    if (version < OLDEST) throw impossible(`it is Redis ${info.get('redis_version')}`);
    if (info.get('cluster_enabled') === '1' && !this.#link.cluster) {
      throw impossible('it belongs to a cluster, so give the store a cluster client');
    }
    if (info.get('role') === 'slave') throw impossible('it is a read-only replica');
    this.#judge(info);
    if (this.#found) throw this.#found;
  }

  #judge(info: ReadonlyMap<string, string>): void {
    const policy = info.get('maxmemory_policy');
    if (Number.isNaN(Number.parseInt(info.get('redis_version') ?? '', 10))) {
      const message = 'The server does not say what it is, so nobody knows what locks on it are.';
      this.#raise('HOLDFAST_UNKNOWN_SERVER', message);
    }
    if (Number(info.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
      const message =
        `The server may evict locks (maxmemory-policy is ${policy}): two may then hold the` +
        ' same one. Use noeviction, or a server of its own for locks.';
      this.#raise('HOLDFAST_EVICTION', message);
    }
    // A primary of a cluster stops by itself when it is cut off.
    const alone = info.get('cluster_enabled') !== '1' && !info.has('min_slaves_good_slaves');
    if (Number(info.get('connected_slaves') ?? 0) > 0 && alone) {
      const message =
        'A primary that is cut off from its replicas goes on granting, beside the one promoted' +
        ' in its place. Set min-replicas-to-write 1 on the server, so that it stops.';
      this.#raise('HOLDFAST_SPLIT_PRIMARY', message);
    }
  }
}

const DONE = Promise.resolve();

function impossible(why: string): StoreError {
  const message = `The server cannot keep locks: ${why}. It takes a primary of Redis 7.0 or newer.`;
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

function fieldsOf(reply: Reply): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of String(reply).split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}
