/**
 * The requests of a session, with paths below the chroot.
 *
 * Each request settles within its time, and a failure says whether it may have happened:
 * `RequestError`, with ZooKeeper's own name as its `reason`. Requests are sent in the order of the
 * calls, without waiting for each other, and the server carries them out in that order.
 */
import type { Clock } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import type { Acl, Destination } from './address.ts';
import { failedWith, unlessMissing } from './errors.ts';
import { checkPath } from './paths.ts';
import {
  createProtected,
  findProtected,
  type Making,
  type ProtectedTerms,
  type Within,
} from './protected-create.ts';
import { type Asking, Session } from './session/session.ts';
import type { NodeWatcher, WatchKind } from './watches.ts';
import * as requests from './wire/requests.ts';

export interface WatchTerms extends Within {
  /** Called once, when the result is outdated. */
  readonly watch?: NodeWatcher | undefined;
}

export interface VersionTerms extends Within {
  /** Refused if the node has another one. Default: any. */
  readonly version?: number | undefined;
}

interface StepAt {
  readonly path: string;
  readonly version?: number | undefined;
}

/** One step of a `multi`. */
export type MultiStep =
  | ({ readonly step: 'create'; readonly path: string } & Omit<Making, 'timeoutMs'>)
  | ({ readonly step: 'delete' | 'check' } & StepAt)
  | ({ readonly step: 'set'; readonly data: Uint8Array } & StepAt);

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

  async create(path: string, making: Making = {}): Promise<requests.Created> {
    const terms = this.#making(path, making);
    return this.#created(await this.ask(requests.create(terms), making));
  }

  /**
   * A sequential node, made once however many replies are lost.
   * @throws RequestError; if its outcome is `unknown`, call it again with `tried`.
   */
  createProtected(terms: ProtectedTerms): Promise<requests.Created> {
    return createProtected(this, terms);
  }

  /** The node that `createProtected` made with this id in this session; deletes others'. */
  findProtected(
    terms: Pick<ProtectedTerms, 'parent' | 'id'> & Within,
  ): Promise<requests.Created | undefined> {
    return findProtected(this, terms);
  }

  async delete(
    path: string,
    { version = ANY_VERSION, ...within }: VersionTerms = {},
  ): Promise<void> {
    return this.ask(requests.remove(this.#full(path), version), within);
  }

  /** Undefined if there is no such node; the watch waits for it then. */
  async exists(path: string, watched: WatchTerms = {}): Promise<requests.Stat | undefined> {
    const full = this.#full(path);
    const asking = this.#asking('exists', watched);
    return this.ask(requests.exists(full, 'watching' in asking), asking).catch(unlessMissing);
  }

  async getData(path: string, watched: WatchTerms = {}): Promise<requests.NodeData> {
    const full = this.#full(path);
    const asking = this.#asking('data', watched);
    return this.ask(requests.getData(full, 'watching' in asking), asking);
  }

  async setData(
    path: string,
    data: Uint8Array,
    { version = ANY_VERSION, ...within }: VersionTerms = {},
  ): Promise<requests.Stat> {
    return this.ask(requests.setData(this.#full(path), data, version), within);
  }

  async getChildren(path: string, watched: WatchTerms = {}): Promise<requests.NodeChildren> {
    const full = this.#full(path);
    const asking = this.#asking('children', watched);
    return this.ask(requests.getChildren(full, 'watching' in asking), asking);
  }

  /** The server catches up with the leader before it answers later requests. */
  async sync(within: Within = {}): Promise<void> {
    return this.ask(requests.sync(this.#full('/')), within);
  }

  /**
   * All steps or none; results in their order.
   * @throws RequestError, with the number of the step that was refused
   */
  async multi(
    steps: readonly MultiStep[],
    within: Within = {},
  ): Promise<readonly requests.StepAnswer[]> {
    if (steps.length === 0) throw new UsageError('multi needs at least one step.');
    const full = steps.map((step) => this.#step(step));
    const answers = await this.ask(requests.multi(full), within);
    return answers.map((one) => (one && 'path' in one ? { path: this.#own(one.path) } : one));
  }

  async getAcl(path: string, within: Within = {}): Promise<requests.NodeAcl> {
    return this.ask(requests.getAcl(this.#full(path)), within);
  }

  /** `version` is that of the ACL, `aversion`. */
  async setAcl(
    path: string,
    acl: readonly Acl[],
    { version = ANY_VERSION, ...within }: VersionTerms = {},
  ): Promise<requests.Stat> {
    return this.ask(requests.setAcl(this.#full(path), acl, version), within);
  }

  /** The watcher hears no more about this path. */
  unwatch(path: string, watcher: NodeWatcher): void {
    this.watches.drop(this.#full(path), watcher);
  }

  #asking(kind: WatchKind, { watch, timeoutMs }: WatchTerms): Asking {
    return watch === undefined ? { timeoutMs } : { timeoutMs, watching: { kind, watcher: watch } };
  }

  #making(path: string, making: Omit<Making, 'timeoutMs'>): requests.CreateTerms {
    const { data = NO_DATA, kind = 'persistent', acl = this.#acl } = making;
    return { path: this.#full(path), data, kind, acl };
  }

  #step(step: MultiStep): requests.WireStep {
    if (step.step === 'create') return { step: 'create', ...this.#making(step.path, step) };
    return { ...step, path: this.#full(step.path), version: step.version ?? ANY_VERSION };
  }

  #created({ path, stat }: requests.Created): requests.Created {
    return { path: this.#own(path), stat };
  }

  #own(path: string): string {
    return path.slice(this.#chroot.length);
  }

  #full(path: string): string {
    const checked = checkPath(path);
    return checked === '/' ? this.#chroot || '/' : this.#chroot + checked;
  }
}
