/** A program in Java with the real Curator, which takes locks as it is told. */
import { type ForeignCommand, ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { driverOn, javaDriver } from '../../methods/sharing/java.ts';
import type { Artifact } from '../../servers/maven.ts';
import type { ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { curatorClassPath, curatorVersion } from '../../servers/zookeeper-server.ts';

/** `mutex`: an `InterProcessMutex`; the others: the sides of an `InterProcessReadWriteLock`. */
export type CuratorKind = 'mutex' | 'read' | 'write';

export const CURATOR: Artifact = {
  group: 'org.apache.curator',
  name: 'curator-recipes',
  version: '5.9.0',
};

/** Of Curator 5.9.0, whose names are those below the path. */
export function newCurator(address: string, ms: number, path: string): Promise<ForeignCommand> {
  return javaDriver('CuratorDriver', CURATOR, address, `${ms}`, `${path}/`);
}

/** A program with Debian's, whose names are paths. It has one session, of so many ms. */
export async function startCurator(
  { address }: ZookeeperServer,
  ms = 20_000,
): Promise<ForeignProgram> {
  const name = `curator-recipes+${await curatorVersion()}`;
  const library = { name, path: await curatorClassPath() };
  return ForeignProgram.start(await driverOn('CuratorDriver', library, address, `${ms}`, ''));
}
