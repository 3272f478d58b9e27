/**
 * The claims of this process that want to be woken.
 *
 * One subscription serves them all: the server addresses a message to the process and names the
 * claim by a tag, which is public, unlike its id. A message is a hint and may be lost; after an
 * interruption all claims are woken, and ask. The claims of a process that may not listen have no
 * address, since the server would not take messages to it either, and ask by themselves.
 *
 * Others may send messages, too: in PostgreSQL every role, in Redis a user that has no key. So a
 * message makes its claim ask, which costs a request and grants nothing, except for one with a
 * proof. Invariant: such a message can come only after the claim right before this one has ended. A
 * tag is the hash of its claim's secret. Only the release of a hold shows the secret, when its
 * process holds no more, and the store passes it on to the claim that it lets in. The tag to be
 * proved, and both numbers, were in the store's reply to the claim (`Turn`): no claim stands
 * between the two, and no message sets a number. A claim that is evicted gets a message
 * that says so, on the same connection, before any that could prove its turn, and believes none
 * after it; one that has expired is no longer fresh (core/claim/deadline.ts).
 * What would break it: a secret in a row or in another message; a turn from a later reply than the
 * first, which a message may have overtaken; a turn behind a claim that will not hold everything
 * once it is in.
 */
import * as crypto from 'node:crypto';
import { randomId } from '../base/random-id.ts';
import { type ListeningTerms, listening, warn } from '../clients/listening.ts';
import { isLasting, type MessageSource } from '../clients/wire.ts';
import type { Claim, ClaimStatus, HeldStatus, Subscribed, Wake } from '../contract/store.ts';
import { statusIn, type Turn, type TurnStatus } from './status-lines.ts';
import { Subscription } from './subscription.ts';

/** What the store has said of a claim, for a message to be compared with; of a hold, its number. */
type KnownTurn = Turn | bigint | 'nothing';

/** One object for each claim that is watched. */
interface TagWatch {
  readonly tag: string;
  readonly wake: Wake;
  /** Undefined before the first reply. */
  known: KnownTurn | undefined;
}

export class Wakes {
  /** Names this process; its channel's name ends in it. */
  readonly address: string = randomId().slice(0, 16);
  readonly #source: MessageSource;
  readonly #channel: string;
  readonly #cannot: NonNullable<ListeningTerms['cannot']>;
  readonly #byTag = new Map<string, TagWatch>();
  readonly #byId = new Map<string, TagWatch>();
  #listening: Promise<void> | undefined;
  /** The first try of that is over. */
  #listens = false;
  #unwoken = false;
  /** Why it cannot listen, until it has warned: not before the store has replied at all. */
  #silence: unknown;
  #replied = false;
  #count = 0;

  /** `cannot` gets the reason why this process cannot listen. Default: warns. */
  constructor(source: MessageSource, prefix: string, cannot: ListeningTerms['cannot'] = warn) {
    this.#source = source;
    this.#channel = `${prefix}${this.address}`;
    this.#cannot = cannot;
  }

  /** The address for messages about this claim, and its tag in them. */
  tagOf({ id }: Claim): string {
    const tag = this.#unwoken ? undefined : this.#byId.get(id)?.tag;
    return tag === undefined ? '- -' : `${this.address} ${tag}`;
  }

  /** A promise resolves when no message can be missed, or when listening is impossible for now. */
  watch({ id, secret }: Claim, wake: Wake): Subscribed {
    const proved = secret !== undefined && !this.#source.own;
    const tag = proved ? hashOf(secret) : (++this.#count).toString(36);
    const watch: TagWatch = { tag, wake, known: undefined };
    this.#byTag.set(tag, watch);
    this.#byId.set(id, watch);
    const watching = new Subscription(() => {
      this.#byTag.delete(tag);
      if (this.#byId.get(id) === watch) this.#byId.delete(id);
    });
    return this.#listens ? watching : this.#listen().then(() => watching);
  }

  /** The reply to a verb of this claim. */
  saw({ id }: Claim, status: ClaimStatus): void {
    this.#replied = true;
    this.#warn();
    const watch = this.#byId.get(id);
    if (!watch) return;
    if (status.state === 'held') watch.known = status.token;
    else if (status.state === 'waiting') watch.known ??= (status as TurnStatus).turn ?? 'nothing';
  }

  #listen(): Promise<void> {
    this.#listening ??= listening(this.#tryListen, {
      wanted: () => this.#byTag.size > 0,
      end: () => {
        this.#listening = undefined;
        this.#listens = false;
      },
      late: this.#resumed,
      cannot: (error) => {
        this.#silence = error;
        this.#warn();
      },
    }).then(() => {
      this.#listens = this.#listening !== undefined;
    });
    return this.#listening;
  }

  #warn(): void {
    if (!this.#replied || this.#silence === undefined) return;
    this.#cannot(this.#silence);
    this.#silence = undefined;
  }

  readonly #tryListen = async (): Promise<void> => {
    try {
      await this.#source.listen(this.#channel, this.#received, this.#resumed);
      this.#unwoken = false;
      this.#silence = undefined;
    } catch (error) {
      this.#unwoken = isLasting(error);
      throw error;
    }
  };

  readonly #received = (message: string): void => {
    for (const line of message.split('\n')) {
      const space = line.indexOf(' ');
      const watch = this.#byTag.get(line.slice(0, space));
      if (watch) this.#wake(watch, line.slice(space + 1));
    }
  };

  #wake(watch: TagWatch, said: string): void {
    const hint = said === '?' ? undefined : statusIn(said);
    if (this.#source.own) return watch.wake(hint);
    // It only sets when the claim asks next.
    if (hint?.state === 'waiting') return watch.wake(hint);
    const believed = hint?.state === 'held' && isProved(watch.known, hint, said);
    if (believed) watch.known = hint.token;
    // It may have left the queue, so from now on it only asks; a holder, only after a `?`.
    else if (typeof watch.known !== 'bigint' || said === '?') watch.known = 'nothing';
    watch.wake(believed ? hint : undefined);
  }

  readonly #resumed = (): void => {
    for (const watch of [...this.#byTag.values()]) {
      // A claim that has left the queue may not have learned of it.
      if (typeof watch.known !== 'bigint') watch.known = 'nothing';
      watch.wake();
    }
  };
}

function isProved(known: KnownTurn | undefined, hint: HeldStatus, said: string): boolean {
  // It tells a holder of who waits, and grants nothing that the store has not.
  if (typeof known === 'bigint') return hint.token === known;
  if (typeof known !== 'object') return false;
  const { token, takeover } = hint;
  const { number, behind } = known;
  if (token !== number || takeover?.token !== behind.number) return false;
  return (
    takeover.reason === 'released' && hashOf(said.slice(said.lastIndexOf(' ') + 1)) === behind.tag
  );
}

/** 128 bits; the shorter form of node:crypto costs a fifth, and is not everywhere. */
function hashOf(secret: string): string {
  const whole = crypto.hash
    ? crypto.hash('sha256', secret, 'base64url')
    : crypto.createHash('sha256').update(secret).digest('base64url');
  return whole.slice(0, 22);
}
