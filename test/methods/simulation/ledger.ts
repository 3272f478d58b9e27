/**
 * What the locks guard: counters at a place that knows nothing of locks, only tokens.
 *
 * A writer enters first, which raises the fence to its token and answers with the value; its write
 * says the token again and counts only while the fence still is that token, and once. So a write
 * that arrives late, after another has entered, is refused, whatever its sender believes. Checked
 * always, in and out of the model: what is written follows on what the writer has read, and no
 * write is lost. When the store loses its memory and counts tokens anew, the ledger is moved to the
 * new lineage, and older ones are refused from then on.
 */
import type { Lease } from 'holdfast';
import type { Chance } from './chance.ts';
import type { Course } from './trace.ts';

interface Account {
  lineage: string;
  fence: bigint;
  value: number;
  writes: number;
  /** The fence has let its one write in. */
  written: boolean;
}

/** What a writer takes along: copies of it may arrive at any time. */
type Write = { readonly lineage: string; readonly token: bigint; readonly value: number };

export type LedgerParts = Course & { readonly chance: Chance };

export class Ledger {
  readonly #parts: LedgerParts;
  readonly #accounts = new Map<string, Account>();
  #lineage: string;

  constructor(parts: LedgerParts, lineage: string) {
    this.#parts = parts;
    this.#lineage = lineage;
  }

  /** The store counts tokens anew. */
  move(lineage: string): void {
    this.#lineage = lineage;
    for (const account of this.#accounts.values()) {
      account.lineage = lineage;
      account.fence = 0n;
      account.written = false;
    }
  }

  /** Raises the fence; the value, or undefined if the token is stale. */
  enter({ resource, lineage, token }: Lease): number | undefined {
    const { trace } = this.#parts;
    const account = this.#account(resource);
    if (lineage !== account.lineage || token < account.fence) {
      trace.count('fence: entry refused');
      return undefined;
    }
    if (token > account.fence) account.written = false;
    account.fence = token;
    return account.value;
  }

  /** Sends a write on its way, perhaps twice, perhaps for a long time. */
  send({ resource, lineage, token }: Lease, read: number): void {
    const { schedule, chance } = this.#parts;
    const write: Write = { lineage, token, value: read };
    const copies = chance.share(0.2) ? 2 : 1;
    for (let i = 0; i < copies; i++) {
      const delay = chance.share(0.3) ? chance.between(200, 4_000) : chance.between(0, 20);
      schedule.after(delay, () => this.#write(resource, write));
    }
  }

  finish(): void {
    for (const [resource, { value, writes }] of this.#accounts) {
      if (value !== writes) {
        this.#parts.trace.fail(`${writes} writes to ${resource} came to ${value}`);
      }
    }
  }

  #write(resource: string, { lineage, token, value }: Write): void {
    const { trace } = this.#parts;
    const account = this.#account(resource);
    if (lineage !== account.lineage || token !== account.fence || account.written) {
      trace.count('fence: late write refused');
      return;
    }
    account.written = true;
    trace.count('fence: write accepted');
    if (account.value !== value) {
      trace.fail(`a write to ${resource} with ${token} follows on ${value}, not ${account.value}`);
    }
    account.value = value + 1;
    account.writes++;
  }

  #account(resource: string): Account {
    const known = this.#accounts.get(resource);
    if (known) return known;
    const begun = { fence: 0n, value: 0, writes: 0, written: false };
    const account: Account = { lineage: this.#lineage, ...begun };
    this.#accounts.set(resource, account);
    return account;
  }
}
