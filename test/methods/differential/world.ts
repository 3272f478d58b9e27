/** The same steps on two stores, and whether anybody could tell them apart. */
import { randomBytes } from 'node:crypto';
import type { Claim, Store } from '../../../src/contract/store.ts';
import { AGAIN } from '../../support/this-run.ts';
import { Chance } from '../simulation/chance.ts';
import { labelOf, Side } from './side.ts';
import { passing, RESOURCES, type Step, Steps } from './steps.ts';

type Waits = { readonly ahead: number; readonly retry: number };

interface WorldParts {
  readonly sides: readonly (readonly Store[])[];
  readonly now: () => number;
  /** As what is compared with the reference does. */
  readonly estimates?: number | undefined;
  /** Holds go from claim to claim, where the stores can do that. */
  readonly passes: boolean;
}

type Held = { readonly takeover?: string };

/** Verbs of some stores. */
const OPTIONAL = ['raise', 'keep', 'recall'] as const;

/** Share of the steps in which a hold goes from one claim to another. */
const PASSES = 0.06;

/** Lives, in statuses and at the end of what is said of a member, and how many wait if any do. */
const ROUGH = /("life":|"waiters":(?=[1-9])|"\d+ \w+ \d+ \d+ )\d+/g;
/** Of claims that come together, the first may be answered when the last one waits already. */
const WAITERS = /("waiters":)\d+/g;
const SOME_WAITERS = /("waiters":)[1-9]\d*/g;

export class World {
  readonly #name: string;
  readonly #steps: Steps;
  /** For holds that go from claim to claim: of its own, so that all else is as without them. */
  readonly #passing: Chance;
  readonly #passes: boolean;
  /** The reference, and what is compared with it. */
  readonly #sides: readonly Side[];
  /** What not both can do. */
  readonly #lacks: ReadonlySet<string>;
  /**
   * Each queue is followed by itself: its hints may come late, also those about a claim that does
   * not fit and is gone at once, and it does not matter when somebody asks.
   */
  readonly #follows: boolean;
  readonly #estimates: number;
  readonly #claims: Claim[] = [];
  #given: Claim | undefined;
  readonly #now: () => number;
  /** When claims end at the latest, as the reference has it. */
  readonly #ends = new Map<string, number>();
  readonly #makers = new Map<string, number>();
  readonly #trace: string[] = [];
  #asked: readonly Claim[] = [];
  #together = false;

  constructor(
    seed: number,
    { sides, now, estimates = Number.POSITIVE_INFINITY, passes }: WorldParts,
  ) {
    this.#name = `world ${seed}`;
    this.#passing = new Chance(-1 - seed);
    this.#passes = passes && sides.every((stores) => stores.every((store) => store.handOver));
    this.#sides = sides.map((stores) => new Side(stores));
    const has = (verb: (typeof OPTIONAL)[number] | 'claimAll'): boolean =>
      sides.every((stores) => stores.every((store) => store[verb] !== undefined));
    this.#lacks = new Set(OPTIONAL.filter((verb) => !has(verb)));
    this.#follows = sides.some((stores) => stores[0]?.traits.liveness === 'session');
    // Their worlds are chosen, and would be others.
    this.#steps = new Steps(new Chance(seed), !this.#follows && has('claimAll'));
    this.#estimates = estimates;
    this.#now = now;
  }

  async step(): Promise<void> {
    const step = this.#next();
    if (this.#lacks.has(step.verb)) return;
    this.#trace.push(`at ${this.#now()}: ${JSON.stringify(step)}`);
    this.#asked = await this.#chosen(step);
    this.#together = step.verb === 'enter' && this.#asked.length > 1;
    for (const { hints } of this.#sides) hints.clear();
    const resource = 'resource' in step ? this.#resource(step.resource) : '';
    const answers: (readonly unknown[])[] = [];
    for (const side of this.#sides) answers.push(await side.run(step, this.#asked, resource));
    const [expected = [], actual = []] = answers;
    const fair = actual.map((each, i) => this.#early(this.#told(each, expected[i]), expected[i]));
    this.#compare('answers', [expected, fair]);
    this.#learn(step, expected);
  }

  #next(): Step {
    const { length } = this.#claims;
    const passes = this.#passes && length > 0 && this.#passing.share(PASSES);
    return passes ? passing(this.#passing, length) : this.#steps.next(length);
  }

  /** Whom the step itself has answered need not be told as well. */
  checkHints({ mayAsk }: { readonly mayAsk: boolean }): void {
    if (this.#follows) return;
    const asked = new Set(this.#asked.map(labelOf));
    const [expected = new Map<string, string>(), actual = expected] = this.#sides.map(
      ({ hints }) => hints,
    );
    const heard = (hints: ReadonlyMap<string, string>) =>
      [...hints].filter(([label]) => !asked.has(label)).sort();
    const known = heard(actual).map(([label, hint]) => {
      return [label, (mayAsk && hint === 'ask' && expected.get(label)) || hint];
    });
    this.#compare('hints', [heard(expected), known]);
  }

  /** Compares the orders of tokens, and everybody leaves. */
  async end(): Promise<void> {
    for (let i = 0; i < RESOURCES; i++) {
      this.#compare(
        'orders',
        this.#sides.map((side) => side.order(this.#resource(i))),
      );
    }
    const verb = 'release' as const;
    const step = { by: 0, verb, which: [], afterMs: 0, unanswered: false };
    this.#trace.push(`at ${this.#now()}: everybody leaves`);
    const leaving = this.#sides.map((side) => side.run(step, this.#claims, ''));
    this.#compare('answers', await Promise.all(leaving));
    for (const side of this.#sides) await side.leave();
  }

  async #chosen(step: Step): Promise<readonly Claim[]> {
    if ('terms' in step) {
      const claims = step.terms.map(({ resource, ...terms }) =>
        this.#make(step.by, { ...terms, resource: this.#resource(resource) }),
      );
      for (const side of this.#sides) for (const one of claims) await side.watch(step.by, one);
      return claims;
    }
    if (!('which' in step)) return [];
    const claims = step.which.map((i) => this.#claims[i] as Claim);
    if (step.verb === 'handOver') return this.#hands(step, claims[0] as Claim);
    if (step.verb === 'again') return claims.filter((claim) => this.#mayRepeat(step.by, claim));
    if (step.verb !== 'release' || !step.unanswered) return claims;
    return claims.map((claim) => ({ ...claim, unanswered: true }));
  }

  /** The taker and the giver, or the giver alone. */
  async #hands(
    { by, takes }: Step & { readonly verb: 'handOver' },
    claim: Claim,
  ): Promise<readonly Claim[]> {
    if (!takes) {
      this.#given = claim;
      return [claim];
    }
    const giver = this.#given ?? claim;
    const { resource, kind, permits, limit, ttlMs } = giver;
    const taker = this.#make(by, { resource, kind, permits, limit, ttlMs, queue: true });
    for (const side of this.#sides) await side.watch(by, taker);
    return [taker, giver];
  }

  #make(by: number, terms: Omit<Claim, 'id' | 'secret' | 'holder'>): Claim {
    const label = `${this.#claims.length}`;
    const holder = { host: 'test', pid: 1, since: 0, label };
    const id = randomBytes(16).toString('hex');
    const claim = { ...terms, id, secret: randomBytes(16).toString('hex'), holder };
    this.#claims.push(claim);
    this.#makers.set(id, by);
    return claim;
  }

  /** Only who made it does, and not if it may have ended. */
  #mayRepeat(by: number, { id }: Claim): boolean {
    return this.#makers.get(id) === by && this.#now() < this.#end(id);
  }

  #learn(step: Step, answers: readonly unknown[]): void {
    const passes = step.verb === 'handOver';
    const ends = step.verb === 'release' ? this.#now() + step.afterMs : Number.POSITIVE_INFINITY;
    this.#asked.forEach(({ id, ttlMs }, i) => {
      const again = step.verb === 'renew' && Object.hasOwn(answers[i] as object, 'life');
      const taken = step.verb === 'handOver' && step.takes && i === 0;
      const begins = again || taken || 'terms' in step;
      const end = begins ? this.#now() + ttlMs : this.#end(id);
      this.#ends.set(id, passes && !taken ? this.#now() : Math.min(end, ends));
    });
  }

  #end(id: string): number {
    return this.#ends.get(id) ?? 0;
  }

  #resource(resource: number): string {
    return `${this.#name}, resource ${resource}`;
  }

  /**
   * Of two who left at a time, one may have let somebody in and the other have held. Whoever sees
   * them both gone is told of a release that it need not know of, for no work was left undone.
   */
  #told(actual: unknown, expected: unknown): unknown {
    if (!this.#follows || !actual || !expected) return actual;
    const [{ takeover, ...rest }, known] = [actual as Held, (expected as Held).takeover];
    return known === undefined && takeover?.startsWith('released') ? rest : actual;
  }

  /** A store may let somebody ask again earlier, for it need not know of every heartbeat. */
  #early(actual: unknown, expected: unknown): unknown {
    if (isWaiting(actual) && isWaiting(expected) && expected.ahead >= this.#estimates) {
      return { ...actual, ahead: expected.ahead, retry: expected.retry };
    }
    const times = [actual, expected].map((each) => Number((each as { retry?: number }).retry));
    const [soon = 0, late = 0] = times;
    const good = soon > 0 && (soon < late || this.#follows);
    if (!good) return actual;
    // Far back in a queue it is known only how many there are.
    const [most = 0, ahead = 0] = [actual, expected].map((each) => (each as Waits).ahead);
    const known = { ...(actual as object), retry: late };
    return this.#follows && most > ahead && ahead > 1 ? { ...known, ahead } : known;
  }

  #compare(what: string, [expected, actual]: readonly unknown[]): void {
    const texts = [expected, actual].map((each) => {
      const text = JSON.stringify(each);
      // On a lease that others have as well, a life is shorter by as much as that is older; and of
      // those who wait it is known that there are some.
      if (!this.#follows)
        return this.#estimates === 0 ? text.replace(SOME_WAITERS, '$1some') : text;
      const rough = text.replace(ROUGH, '$1');
      return this.#together ? rough.replace(WAITERS, '$1') : rough;
    });
    if (texts[0] === texts[1]) return;
    const trace = this.#trace.join('\n');
    throw new Error(
      `${this.#name}, ${AGAIN}: ${what} differ:\n` +
        `  reference ${texts[0]}\n  store     ${texts[1]}\n${trace}`,
    );
  }
}

function isWaiting(answer: unknown): answer is Waits {
  return typeof answer === 'object' && answer !== null && 'ahead' in answer;
}
