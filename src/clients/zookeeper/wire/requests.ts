/** The requests of ZooKeeper, as bytes. Paths are those of the server. */
import type { Acl, Auth } from '../address.ts';
import { refused } from '../errors.ts';
import { GarbageError, type JuteReader, type JuteWriter } from './jute.ts';

export const OPCODE = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  sync: 9,
  ping: 11,
  getChildren: 12,
  check: 13,
  multi: 14,
  create2: 15,
  createContainer: 19,
  auth: 100,
  setWatches: 101,
  closeSession: -11,
} as const;

export interface ZookeeperRequest<T> {
  readonly opcode: number;
  readonly path: string;
  /** Whether a majority commits it, even if it is refused. */
  readonly writes: boolean;
  write(out: JuteWriter): unknown;
  read(answer: JuteReader): T;
}

/** A node's facts. Ids of transactions grow with every write; times are the server's, epoch ms. */
export interface Stat {
  /** The transaction that created it. */
  readonly czxid: bigint;
  /** The last one that changed its data. */
  readonly mzxid: bigint;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** The session that it ends with; 0 if it is not ephemeral. */
  readonly session: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  /** The last transaction that changed its list of children. */
  readonly pzxid: bigint;
}

export type NodeKind =
  | 'persistent'
  | 'persistent-sequential'
  | 'ephemeral'
  | 'ephemeral-sequential'
  | 'container';

export interface Created {
  /** With the number that the server added to a sequential node. */
  readonly path: string;
  readonly stat: Stat;
}

/** A change of one node: alone, or as a step of a `multi`. */
export type WireStep = { readonly path: string } & (
  | {
      readonly step: 'create';
      readonly data: Uint8Array;
      readonly acl: readonly Acl[];
      readonly kind: NodeKind;
    }
  | { readonly step: 'set'; readonly data: Uint8Array; readonly version: number }
  | { readonly step: 'delete' | 'check'; readonly version: number }
);

/** A step's result: the path of a created node, the facts of one that was set, or nothing. */
export type StepAnswer = Pick<Created, 'path'> | Stat | undefined;

const FLAGS: Readonly<Record<NodeKind, number>> = {
  persistent: 0,
  ephemeral: 1,
  'persistent-sequential': 2,
  'ephemeral-sequential': 3,
  container: 4,
};

export interface NodeData {
  readonly data: Buffer;
  readonly stat: Stat;
}

export interface NodeChildren {
  /** Names, in no order. */
  readonly children: readonly string[];
  readonly stat: Stat;
}

/** The request that leaves a watch; an event ends it. */
export type WatchKind = 'data' | 'exists' | 'children';

export interface NodeLook<T> {
  readonly opcode: number;
  /** Undefined: it leaves no watch. */
  readonly kind?: WatchKind;
  readonly read: (answer: JuteReader) => T;
}

export const EXISTS: NodeLook<Stat> = { opcode: OPCODE.exists, kind: 'exists', read: readStat };
export const DATA: NodeLook<NodeData> = {
  opcode: OPCODE.getData,
  kind: 'data',
  read: (answer) => ({ data: answer.bytes(), stat: readStat(answer) }),
};
export const CHILDREN: NodeLook<NodeChildren> = {
  opcode: OPCODE.getChildren,
  kind: 'children',
  read: (answer) => ({ children: answer.list(() => answer.text()), stat: readStat(answer) }),
};
export const SYNC: NodeLook<void> = { opcode: OPCODE.sync, read: nothing };

export function look<T>(
  { opcode, kind, read }: NodeLook<T>,
  path: string,
  watch: boolean,
): ZookeeperRequest<T> {
  const write = (out: JuteWriter): unknown => (kind ? out.text(path).flag(watch) : out.text(path));
  return { opcode, path, writes: false, write, read };
}

export function change<T>(step: WireStep, read: (answer: JuteReader) => T): ZookeeperRequest<T> {
  const write = (out: JuteWriter): void => writeStep(out, step);
  return { opcode: opcodeOf(step), path: step.path, writes: true, write, read };
}

export function authenticate({ scheme, auth }: Auth): ZookeeperRequest<void> {
  const bytes = typeof auth === 'string' ? Buffer.from(auth) : auth;
  const write = (out: JuteWriter): unknown => out.int(0).text(scheme).bytes(bytes);
  return { opcode: OPCODE.auth, path: '', writes: false, write, read: nothing };
}

export function closeSession(): ZookeeperRequest<void> {
  return { opcode: OPCODE.closeSession, path: '', writes: true, write: nothing, read: nothing };
}

/** All steps happen or none; the error names the first refused step. */
export function multi(steps: readonly WireStep[]): ZookeeperRequest<readonly StepAnswer[]> {
  const write = (out: JuteWriter): void => {
    for (const step of steps) {
      out.int(opcodeOf(step)).flag(false).int(-1);
      writeStep(out, step);
    }
    out.int(-1).flag(true).int(-1);
  };
  const path = steps[0]?.path ?? '';
  const read = (answer: JuteReader): StepAnswer[] => readSteps(answer, steps);
  return { opcode: OPCODE.multi, path, writes: true, write, read };
}

function opcodeOf(step: WireStep): number {
  if (step.step === 'set') return OPCODE.setData;
  if (step.step !== 'create') return OPCODE[step.step];
  return step.kind === 'container' ? OPCODE.createContainer : OPCODE.create2;
}

function writeStep(out: JuteWriter, step: WireStep): void {
  out.text(step.path);
  if (step.step === 'create' || step.step === 'set') out.bytes(step.data);
  if (step.step !== 'create') out.int(step.version);
  else {
    out.list(step.acl, ({ perms, scheme, id }) => out.int(perms).text(scheme).text(id));
    out.int(FLAGS[step.kind]);
  }
}

function readSteps(answer: JuteReader, steps: readonly WireStep[]): StepAnswer[] {
  const answers: StepAnswer[] = [];
  const errors: number[] = [];
  for (;;) {
    const opcode = answer.int();
    const done = answer.flag();
    answer.int();
    if (done) break;
    if (opcode === OPCODE.create) answers.push({ path: answer.text() });
    // Other server versions send more.
    else if (opcode === OPCODE.create2) answers.push({ path: readCreated(answer).path });
    else if (opcode === OPCODE.setData) answers.push(readStat(answer));
    else if (opcode === OPCODE.delete || opcode === OPCODE.check) answers.push(undefined);
    else if (opcode === -1) errors.push(answer.int());
    else throw new GarbageError(`a step of kind ${opcode}`);
  }
  if (answers.length + errors.length !== steps.length) throw new GarbageError('steps are missing');
  if (errors.length === 0) return answers;
  // Codes are 0 before the refused step, and -2, not tried, after it.
  const at = errors.findIndex((code) => code !== 0 && code !== -2);
  throw refused(errors[at] ?? -2, steps[at]?.path ?? '', at);
}

export function readCreated(answer: JuteReader): Created {
  return { path: answer.text(), stat: readStat(answer) };
}

export function readStat(answer: JuteReader): Stat {
  return {
    czxid: answer.long(),
    mzxid: answer.long(),
    ctimeMs: Number(answer.long()),
    mtimeMs: Number(answer.long()),
    version: answer.int(),
    cversion: answer.int(),
    aversion: answer.int(),
    session: answer.long(),
    dataLength: answer.int(),
    numChildren: answer.int(),
    pzxid: answer.long(),
  };
}

export function nothing(): void {}
