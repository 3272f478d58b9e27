/** The rights on a node, which no store reads or changes. */
import { systemClock } from '../../../src/base/clock.ts';
import type { Acl, ZookeeperOptions } from '../../../src/clients/zookeeper/address.ts';
import { destinationOf } from '../../../src/clients/zookeeper/address.ts';
import { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';

const GET_ACL = 6;
const SET_ACL = 7;

/** Paths are those of the server. */
export class RightsSession extends ZookeeperSession {
  constructor(address: string | ZookeeperOptions) {
    super(destinationOf(address), systemClock());
  }

  getAcl(path: string): Promise<readonly Acl[]> {
    return this.ask(() => ({
      ...{ opcode: GET_ACL, path, writes: false },
      write: (out) => out.text(path),
      read: (answer) =>
        answer.list(() => ({ perms: answer.int(), scheme: answer.text(), id: answer.text() })),
    }));
  }

  setAcl(path: string, acl: readonly Acl[]): Promise<void> {
    return this.ask(() => ({
      ...{ opcode: SET_ACL, path, writes: true },
      write: (out) =>
        out
          .text(path)
          .list(acl, ({ perms, scheme, id }) => out.int(perms).text(scheme).text(id))
          .int(-1),
      read: () => {},
    }));
  }
}
