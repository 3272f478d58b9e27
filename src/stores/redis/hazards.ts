/**
 * Server configurations under which locks keep less than they promise, found before any grant.
 *
 * A hazard is a configuration in which a claim may vanish, or live on unseen. The process warns of
 * it once; with `refuse`, the store claims nothing on such a server. It always refuses a server on
 * which locks are impossible.
 * Invariant: no claim is written on a connection before its own server has been looked at. So the
 * store looks at each primary of a cluster, and at the one after a fail-over or a restart too,
 * wherever a redirection leads; and no connection waits for the look at another server.
 * What breaks it: a configuration that changes while the connection lives, or looking at the server
 * of a key instead of that of a connection, because the key may move in between.
 */

import { warnOfSilence } from '../../clients/listening.ts';
import { refusalCode, refused } from '../../clients/redis/errors.ts';
import type { RedisGreeting, RedisReply } from '../../clients/redis/link.ts';
import { type WarningCode, Warnings } from '../../clients/warnings.ts';
import { permanentFailure, type StoreError } from '../../contract/errors.ts';

type Hazard = [code: WarningCode, message: string];

/** What a server says about itself. */
type Info = ReadonlyMap<string, string>;

/** The oldest server whose scripts may run when memory is full. */
const OLDEST = 7;

export class Hazards {
  readonly #refuse: boolean;
  readonly #tagged: boolean;
  readonly #warnings = new Warnings();
  #primarySeen = false;

  /** @param tagged all keys are in one slot, so one endpoint of a cluster will do. */
  constructor(refuse: boolean, tagged: boolean) {
    this.#refuse = refuse;
    this.#tagged = tagged;
  }

  /** Looks at the server of a new connection; rejects if it must not keep locks. */
  readonly look: RedisGreeting = async (ask, { cluster }) => {
    const info = fieldsOf(await ask(['INFO', 'everything']));
    const version = Number.parseInt(info.get('redis_version') ?? '', 10);
    if (version < OLDEST) throw impossible(`it is Redis ${info.get('redis_version')}`);
    if (!cluster) this.#checkAlone(info);
    for (const [name, message] of hazardsIn(info)) {
      if (this.#refuse) throw permanentFailure(`${message} (${name})`);
      this.#warnings.warn(name, message);
    }
  };

  /** A jump has happened already, so the store cannot refuse it, only warn. */
  readonly clockJumped = (ms: number): void => {
    const way = ms > 0 ? `${Math.round(ms)} ms ahead` : `back by ${Math.round(-ms)} ms`;
    const harm = ms > 0 ? 'have expired too early' : 'expire too late';
    this.#warnings.warn(
      'HOLDFAST_CLOCK_JUMP',
      `The server's clock has jumped ${way}: locks ${harm}.`,
    );
  };

  /** Another program has this greater `maxTtl`. The server is not to blame: only a warning. */
  readonly exceeded = (maxTtlMs: number): void => {
    const message =
      `Another program on these locks has a maxTtl of ${maxTtlMs} ms, this one a smaller one.` +
      ' If this one starts again just after a flush, it may grant locks while leases of the other' +
      ' are alive. Set the same maxTtl in all programs.';
    this.#warnings.warn('HOLDFAST_MAX_TTL', message);
  };

  /**
   * This process may not listen. Waits are safe but slow. A server that refuses this for another
   * reason refuses claims, too.
   */
  readonly unwoken = (error: unknown): void => {
    if (refusalCode(error) !== 'NOPERM') return warnOfSilence(this.#warnings, error);
    const message =
      'The server does not let this user SUBSCRIBE, so waiters poll now and then instead of' +
      ' being woken. docs/stores/redis.md has the ACL that is needed.';
    this.#warnings.warn('HOLDFAST_NO_WAKE', message);
  };

  /** Only outside a cluster, where a replica does not redirect commands. */
  #checkAlone(info: Info): void {
    if (info.get('cluster_enabled') === '1' && !this.#tagged) {
      const remedy = 'give the store a cluster client, or a hashTag behind one endpoint';
      throw impossible(`it belongs to a cluster, so ${remedy}`);
    }
    const replica = info.get('role') === 'slave';
    // The store has seen a primary before, so there is another one by now.
    if (replica && this.#primarySeen) throw refused('READONLY It has become a replica');
    if (replica) throw impossible('it is a read-only replica');
    this.#primarySeen = true;
  }
}

function* hazardsIn(info: Info): Generator<Hazard> {
  const policy = info.get('maxmemory_policy');
  if (!info.has('master_replid')) {
    const message =
      'The server does not tell its replication id, so the store notices a loss of data by less' +
      ' certain signs, or not at all: then it grants nothing.';
    yield ['HOLDFAST_UNKNOWN_SERVER', message];
  }
  if (Number.isNaN(Number.parseInt(info.get('redis_version') ?? '', 10))) {
    const message = 'The server does not say what it is, so locks on it may be unsafe.';
    yield ['HOLDFAST_UNKNOWN_SERVER', message];
  }
  if (Number(info.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
    const message =
      `The server may evict locks (maxmemory-policy is ${policy}): two callers may then hold the` +
      ' same one. Use noeviction, or a server of its own for locks.';
    yield ['HOLDFAST_EVICTION', message];
  }
  // A primary of a cluster stops by itself when it is cut off.
  const alone = info.get('cluster_enabled') !== '1' && !info.has('min_slaves_good_slaves');
  if (Number(info.get('connected_slaves') ?? 0) > 0 && alone) {
    const message =
      'A primary that is cut off from its replicas keeps granting, beside the one promoted' +
      ' in its place. Set min-replicas-to-write 1 on the server, so that it stops.';
    yield ['HOLDFAST_SPLIT_PRIMARY', message];
  }
}

function impossible(why: string): StoreError {
  const message = `The server cannot keep locks: ${why}. Use a primary of Redis 7.0 or newer.`;
  return permanentFailure(message);
}

function fieldsOf(reply: RedisReply): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of String(reply).split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}
