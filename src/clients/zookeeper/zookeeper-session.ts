/**
 * The requests of a session, with paths below the chroot. Each settles within its time. They are
 * sent in the order of the calls, without waiting for each other, and carried out in that order.
 *
 * A protected create makes a sequential node once, although replies get lost. Its name carries an
 * id of the caller's: Curator's form, `_c_<id>-<name>`, so that its programs find the queue as they
 * expect it. When the outcome of a create is unknown, the client looks for that id among the
 * parent's children, and takes the node if it is there, or makes it again if it is not. Looking
 * proves absence because nothing sent before can be carried out after it: over the same server,
 * requests are in order, and a session's old connection is closed before it is served over a new
 * one; when another server takes the session over, the leader refuses what still comes from the one
 * before, until that one is greeted again, which it is only once it has read all that (awake.ts);
 * and the `sync` before the look makes the server catch up with all that the leader has decided. A
 * node of the same id that belongs to an earlier session of the caller ends with it, at an unknown
 * time: it is deleted.
 */
import { Answer, type Soon } from '../../base/answer.ts';
import type { Clock } from '../../base/clock.ts';
import { isLockError, UsageError } from '../../base/errors.ts';
import type { StoreError } from '../../contract/errors.ts';
import type { Acl, Destination } from './address.ts';
import { failedWith, RequestError, tooLate, unlessMissing } from './errors.ts';
import { checkPath } from './paths.ts';
import { Session } from './session/session.ts';
import type { NodeWatcher } from './watches.ts';
import type { JuteReader } from './wire/jute.ts';
import * as requests from './wire/requests.ts';

export interface Within {
  /** How long the reply may take, in ms. Default: the session's timeout. */
  readonly timeoutMs?: number | undefined;
}

export interface Making extends Within {
  /** Default: none. */
  readonly data?: Uint8Array | undefined;
  /** Default: `persistent`; of a protected one, `ephemeral-sequential`. */
  readonly kind?: requests.NodeKind | undefined;
  /** Default: that of the client. */
  readonly acl?: readonly Acl[] | undefined;
}

/** The time is for all attempts together. */
export interface ProtectedTerms extends Making {
  /** The parent of the node. It must be there. */
  readonly parent: string;
  /** How its name ends, before the number that the server adds. */
  readonly name: string;
  /** In the form of a UUID, unique to this node; the same for each attempt. */
  readonly id: string;
  /** An earlier attempt may have happened: looks before it makes anything. Default: false. */
  readonly tried?: boolean | undefined;
}

export interface WatchTerms extends Within {
  /** Called once, when the result is outdated. */
  readonly watch?: NodeWatcher | undefined;
}

export interface VersionTerms extends Within {
  /** Refused if the node has another one. Default: any. */
  readonly version?: number | undefined;
}

/** One step of a `multi`. */
export type MultiStep = { readonly path: string } & (
  | ({ readonly step: 'create' } & Omit<Making, 'timeoutMs'>)
  | ({ readonly step: 'delete' | 'check' } & Omit<VersionTerms, 'timeoutMs'>)
  | ({ readonly step: 'set'; readonly data: Uint8Array } & Omit<VersionTerms, 'timeoutMs'>)
);

const ANY_VERSION = -1;
const NO_DATA = new Uint8Array();

/** A session of `zookeeperClient(…).start()`, and its requests. */
export class ZookeeperSession extends Session {
  readonly #chroot: string;
  readonly #acl: readonly Acl[];

  constructor(destination: Destination, clock: Clock) {
    super(destination, clock);
    this.#chroot = destination.chroot;
    this.#acl = destination.acl;
  }

  /**
   * Two committed writes that change nothing, one after the other, so that the leader confirms the
   * session: `touchedAt` is then the last activity a quarter of the timeout before.
   */
  async confirm(within: Within = {}): Promise<void> {
    await this.touch(within);
    await this.touch(within);
  }

  /** A committed write that changes nothing. The leader commits a refused check as well. */
  async touch(within: Within = {}): Promise<void> {
    try {
      await this.multi([{ step: 'check', path: '/' }], within);
    } catch (error) {
      if (!failedWith(error, 'NOAUTH')) unlessMissing(error);
    }
  }

  create(path: string, making: Making = {}): Promise<requests.Created> {
    const step = { step: 'create', path, ...making } as const;
    return this.#change(step, making, (answer) => {
      const { path: made, stat } = requests.readCreated(answer);
      return { path: this.#own(made), stat };
    });
  }

  /**
   * A sequential node, made once however many replies are lost.
   * @throws RequestError; if its outcome is `unknown`, call it again with `tried`.
   */
  createProtected(terms: ProtectedTerms): Promise<requests.Created> {
    const { name, id, data, acl, kind = 'ephemeral-sequential' } = terms;
    const allMs = terms.timeoutMs ?? this.timeoutMs;
    const deadline = this.now() + allMs;
    const path = childOf(terms.parent, protectedName(id, name));
    let unsure = terms.tried === true;
    let trouble: unknown;
    const attempt = (): Answer<requests.Created> => {
      const timeoutMs = deadline - this.now();
      if (timeoutMs <= 0) throw tooLate(allMs, unsure, trouble);
      const make = (found?: requests.Created): Soon<requests.Created> => {
        unsure = false;
        return found ?? this.create(path, { data, acl, kind, timeoutMs });
      };
      const look = unsure ? this.findProtected({ ...terms, timeoutMs }).then(make) : undefined;
      return Answer.of<requests.Created>(() => look ?? make()).or((error) => {
        // A failed look leaves the outcome unknown.
        unsure ||= isLockError(error, 'STORE') && (error as StoreError).outcome === 'unknown';
        if (!this.#mayAskAgain(error)) throw unsure ? unknown(error) : error;
        trouble = error;
        return attempt();
      });
    };
    return Answer.of<requests.Created>(attempt);
  }

  /** What `createProtected` made with this id in this session; deletes others'. */
  async findProtected(
    terms: Pick<ProtectedTerms, 'parent' | 'id'> & Within,
  ): Promise<requests.Created | undefined> {
    const { parent, id, timeoutMs } = terms;
    await this.sync({ timeoutMs });
    const { children } = await this.getChildren(parent, { timeoutMs });
    let own: requests.Created | undefined;
    for (const child of children) {
      if (!child.startsWith(protectedName(id, ''))) continue;
      const path = childOf(parent, child);
      const stat = await this.exists(path, { timeoutMs });
      if (stat === undefined) continue;
      const ours = stat.session === 0n || stat.session === this.id;
      if (ours && own === undefined) own = { path, stat };
      else await this.delete(path, { timeoutMs }).catch(unlessMissing);
    }
    return own;
  }

  delete(path: string, { version, ...within }: VersionTerms = {}): Promise<void> {
    return this.#change({ step: 'delete', path, version }, within, requests.nothing);
  }

  /** Undefined if there is no such node; the watch waits for it then. */
  exists(path: string, watched: WatchTerms = {}): Promise<requests.Stat | undefined> {
    return this.#look(requests.EXISTS, path, watched).catch(unlessMissing);
  }

  getData(path: string, watched: WatchTerms = {}): Promise<requests.NodeData> {
    return this.#look(requests.DATA, path, watched);
  }

  setData(
    path: string,
    data: Uint8Array,
    { version, ...within }: VersionTerms = {},
  ): Promise<requests.Stat> {
    return this.#change({ step: 'set', path, data, version }, within, requests.readStat);
  }

  getChildren(path: string, watched: WatchTerms = {}): Promise<requests.NodeChildren> {
    return this.#look(requests.CHILDREN, path, watched);
  }

  /** The server catches up with the leader before it answers later requests. */
  sync(within: Within = {}): Promise<void> {
    return this.#look(requests.SYNC, '/', within);
  }

  /** All steps or none. @throws RequestError, with the number of the step that was refused */
  multi(steps: readonly MultiStep[], within: Within = {}): Promise<readonly requests.StepAnswer[]> {
    const asked = this.ask(() => {
      if (steps.length === 0) throw new UsageError('multi needs at least one step.');
      return requests.multi(steps.map((step) => this.#step(step)));
    }, within);
    return asked.map((answers) =>
      answers.map((one) => (one && 'path' in one ? { ...one, path: this.#own(one.path) } : one)),
    );
  }

  /** The watcher hears no more about this path. */
  unwatch(path: string, watcher: NodeWatcher): void {
    this.watches.drop(this.#full(path), watcher);
  }

  /** Only after a broken connection or a timeout: a refusal is a reply. */
  #mayAskAgain(error: unknown): error is RequestError {
    const over = this.state === 'expired' || this.state === 'closed';
    return !over && (failedWith(error, 'CONNECTIONLOSS') || failedWith(error, 'OPERATIONTIMEOUT'));
  }

  #look<T>(look: requests.NodeLook<T>, path: string, terms: WatchTerms): Promise<T> {
    const { watch: watcher, timeoutMs } = terms;
    const watching = watcher && look.kind && { kind: look.kind, watcher };
    const watched = watching !== undefined;
    return this.ask(() => requests.look(look, this.#full(path), watched), { timeoutMs, watching });
  }

  #change<T>(step: MultiStep, { timeoutMs }: Within, read: (answer: JuteReader) => T): Promise<T> {
    return this.ask(() => requests.change(this.#step(step), read), { timeoutMs });
  }

  #step(step: MultiStep): requests.WireStep {
    const path = this.#full(step.path);
    if (step.step !== 'create') return { ...step, path, version: step.version ?? ANY_VERSION };
    const { data = NO_DATA, kind = 'persistent', acl = this.#acl } = step;
    return { step: 'create', path, data, kind, acl };
  }

  #own(path: string): string {
    return path.slice(this.#chroot.length);
  }

  #full(path: string): string {
    const checked = checkPath(path);
    return checked === '/' ? this.#chroot || '/' : this.#chroot + checked;
  }
}

function childOf(parent: string, name: string): string {
  return `${parent === '/' ? '' : parent}/${name}`;
}

/** How the name of a protected node begins; the number that the server adds ends it. */
export function protectedName(id: string, name: string): string {
  return `_c_${id}-${name}`;
}

/** A refused look says nothing of the earlier create, unless the parent is missing. */
function unknown(error: unknown): unknown {
  if (!isLockError(error, 'STORE') || failedWith(error, 'NONODE')) return error;
  const { reason, message, retryable, cause } = error as RequestError;
  return new RequestError(reason, message, { retryable, cause, outcome: 'unknown' });
}
