/** The parts of a `hazelcast-client` client that the stores use. */
import { UsageError } from '../../base/errors.ts';
import { has } from '../../clients/members.ts';
import { permanentFailure } from '../../contract/errors.ts';

export interface HazelcastClient {
  getCPSubsystem(): unknown;
  getMap(...name: never[]): Promise<unknown>;
  getCluster(): unknown;
}

/** The same client, as it is called. */
export interface Hazelcast {
  getCPSubsystem(): CpSubsystem;
  getMap(name: string): Promise<HazelcastMap>;
  getCluster(): {
    addMembershipListener(listener: object): string;
    removeMembershipListener(id: string): boolean;
    /** Their version is not part of its public interface. */
    getMembers(): readonly { readonly version?: { toString(): string } }[];
  };
}

export interface CpSubsystem {
  getAtomicReference(name: string): Promise<AtomicReference>;
  getLock(name: string): Promise<FencedLock>;
}

export interface AtomicReference {
  get(): Promise<unknown>;
  compareAndSet(expected: string | null, text: string): Promise<boolean>;
  /** Not of its public interface. */
  readonly groupId?: { readonly name?: unknown };
  toData?(value: unknown): unknown;
}

export interface FencedLock {
  tryLock(timeoutMs: number): Promise<HazelcastFence | undefined>;
  unlock(fence: HazelcastFence): Promise<void>;
  isLocked(): Promise<boolean>;
}

/** A `Long`, marked by the client for the holder that got it. */
export interface HazelcastFence {
  toString(): string;
}

export interface HazelcastMap {
  set(key: string, value: string, ttlMs: number): Promise<void>;
  addEntryListener(listener: object, key: undefined, includeValue: boolean): Promise<string>;
  removeEntryListener(id: string): Promise<boolean>;
}

export function checkClient(client: HazelcastClient, name: string): Hazelcast {
  if (has(client, 'getCPSubsystem', 'getMap', 'getCluster')) return client as unknown as Hazelcast;
  throw new UsageError(`${name} takes a client of the package hazelcast-client.`);
}

/**
 * Refuses a cluster whose CP Subsystem is in unsafe mode, where a lost member takes locks with it
 * that are held.
 *
 * No reply says so; but in unsafe mode the members spread the objects of the default group over
 * their partitions by name, and then name the object's group after it.
 */
export async function refuseUnsafe(cp: CpSubsystem): Promise<void> {
  const reference = await cp.getAtomicReference('holdfast/mode');
  const group = reference.groupId?.name;
  if (group === 'default') return;
  const why =
    group === undefined
      ? 'This version of hazelcast-client does not show whether'
      : 'This cluster has cp-member-count 0, so';
  const mode = `${why} its CP Subsystem is in unsafe mode, and forgets locks with a member.`;
  const advice = 'Set cp-member-count to 3 or more, or allowUnsafe if you accept that.';
  throw permanentFailure(`${mode} ${advice}`);
}
