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
import { Session } from './session/session.ts';
import type { NodeWatcher } from './watches.ts';
import type { JuteReader } from './wire/jute.ts';
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
    const step = { step: 'create', path, ...making } as const;
    const { path: made, stat } = await this.#change(step, making, requests.readCreated);
    return { path: this.#own(made), stat };
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

  getAcl(path: string, within: Within = {}): Promise<requests.NodeAcl> {
    return this.#look(requests.ACL, path, within);
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

  async #look<T>(look: requests.NodeLook<T>, path: string, terms: WatchTerms): Promise<T> {
    const { watch: watcher, timeoutMs } = terms;
    const watching = watcher && look.kind && { kind: look.kind, watcher };
    const request = requests.look(look, this.#full(path), watching !== undefined);
    return this.ask(request, { timeoutMs, watching });
  }

  async #change<T>(
    step: MultiStep,
    { timeoutMs }: Within,
    read: (answer: JuteReader) => T,
  ): Promise<T> {
    return this.ask(requests.change(this.#step(step), read), { timeoutMs });
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
