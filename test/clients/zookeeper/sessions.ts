/** Sessions for tests, which end with their test. */
import type { ZookeeperOptions } from '../../../src/clients/zookeeper/address.ts';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import type { SessionChange } from '../../../src/clients/zookeeper/session/session.ts';
import type { WatchEvent } from '../../../src/clients/zookeeper/watches.ts';
import type { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { closing } from '../../support/closing.ts';
import { until } from '../../support/until.ts';

export function startSession(
  address: string | ZookeeperOptions,
  timeoutMs?: number,
): ZookeeperSession {
  return closing(zookeeperClient(address).start(timeoutMs));
}

export type Proxied = { readonly proxy: TcpProxy; readonly session: ZookeeperSession };

/** A session through a proxy before the server. */
export async function startProxied(port: number, timeoutMs: number): Promise<Proxied> {
  const proxy = closing(await TcpProxy.start(port));
  const session = startSession({ servers: [`127.0.0.1:${proxy.port}`] }, timeoutMs);
  await session.confirm();
  return { proxy, session };
}

/** What a session's listener hears, in order. */
export function heardFrom(session: ZookeeperSession): SessionChange['to'][] {
  const heard: SessionChange['to'][] = [];
  session.listen(({ to }) => void heard.push(to));
  return heard;
}

export async function untilState(
  session: ZookeeperSession,
  state: ZookeeperSession['state'],
): Promise<void> {
  await until(state, async () => session.state === state);
}

/** Remembers what it is told, as `type path`. */
export class Notes {
  readonly told: string[] = [];
  readonly watch = ({ type, path }: WatchEvent): void => void this.told.push(`${type} ${path}`);

  async until(count: number): Promise<string[]> {
    await until(`told ${count} times`, async () => this.told.length >= count);
    return this.told;
  }
}
