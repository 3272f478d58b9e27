/**
 * Refuses file systems on which SQLite's locks do not exclude.
 *
 * WAL mode keeps its index in shared memory, so all processes must run on one host, and the file
 * system must have working POSIX locks. Network file systems break both without an error: two hosts
 * would be granted the same lock. The magic number that Linux reports identifies them. FUSE is
 * refused as a whole, because its backend cannot be known.
 * What it cannot see: network file systems on other systems than Linux, except UNC paths.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { permanentFailure } from '../../contract/errors.ts';

const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE (sshfs, virtiofs and others)'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x786f4256, 'a shared folder of VirtualBox'],
  [0xbacbacbc, 'a shared folder of VMware'],
]);

export function refuseNetwork(file: string, typeOf: (path: string) => number = magicOf): void {
  const unc = /^[\\/]{2}(?![.?][\\/])/.test(file) && process.platform === 'win32';
  const name = unc ? 'a network share' : NETWORK.get(typeOf(dirname(file)));
  if (!name) return;
  throw permanentFailure(
    `The lock database ${file} is on ${name}, where SQLite's locks do not exclude each other.` +
      ' Put it on a local disk, or use a store with a server for locks between machines. If you' +
      ' know that only one machine uses it and that its locks work, pass trustFileSystem: true.',
  );
}

function magicOf(directory: string): number {
  if (process.platform !== 'linux') return 0;
  try {
    // Some of the numbers come sign-extended.
    return statfsSync(directory).type >>> 0;
  } catch {
    // A missing directory is for SQLite to report.
    return 0;
  }
}
