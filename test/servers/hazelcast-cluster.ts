/**
 * Members of Hazelcast 5.4, the last open-source line with the CP Subsystem: from 5.5 on a member
 * with `cp-member-count: 3` does not start without a licence.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'hazelcast-client';
import { until } from '../support/until.ts';
import { type Artifact, type JavaProgram, javaProgram } from './maven.ts';
import { freePort } from './ports.ts';
import type { Command } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

export const HAZELCAST: Artifact = {
  ...{ group: 'com.hazelcast', name: 'hazelcast', version: '5.4.0' },
  sha256: 'cbcd4de863ee859dd6094fe01752e1bc9986c5240621443fe6609a5e16903f0d',
};
const MAIN = 'com.hazelcast.core.server.HazelcastMemberStarter';
const QUICK = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m'];

export interface HazelcastOptions {
  /** How many of the three members have the CP Subsystem; 0: unsafe mode. Default 3. */
  readonly cpMembers?: 0 | 3;
  readonly sessionTtlSeconds?: number;
  /** Compiled well and with the heap that Java takes by itself, for figures: it starts slowly. */
  readonly inProduction?: boolean;
}

/** The TTL of CP sessions, in s: short, as tests wait for it to end. */
export const SESSION_TTL_S = 5;

class Member extends LocalServer {
  protected readonly args: readonly string[];

  constructor({ java, jars }: JavaProgram, port: number, config: string) {
    super({ name: 'hazelcast', program: java, ports: [port] });
    const file = join(this.folder, 'hazelcast.yaml');
    writeFileSync(file, config);
    // It tells its makers that it runs otherwise.
    const quiet = ['-Dhazelcast.phone.home.enabled=false', `-Dhazelcast.config=${file}`];
    this.args = [...quiet, '-cp', join(jars, '*'), MAIN];
  }

  get address(): string {
    return `${this.host}:${this.port}`;
  }

  /** Waits until its log has this. */
  async says(sign: RegExp): Promise<void> {
    const ended = (): string | undefined => (this.running ? undefined : this.log);
    await until(`did it say ${sign}`, () => sign.test(this.log), ended);
  }

  /** Several that start at once take longer than a server may: the cluster waits for them. */
  protected async answers(): Promise<boolean> {
    return true;
  }
}

export class HazelcastCluster {
  readonly members: readonly Member[];

  static async start(options: HazelcastOptions = {}): Promise<HazelcastCluster> {
    const { cpMembers = 3, sessionTtlSeconds = SESSION_TTL_S } = options;
    const found = await javaProgram(HAZELCAST);
    const java: Command = options.inProduction ? found.java : [...found.java, ...QUICK];
    const program = { ...found, java };
    const ports: number[] = [];
    while (ports.length < Math.max(1, cpMembers)) ports.push(await freePort());
    const members = ports.map(
      (port) => new Member(program, port, configOf(port, { ports, cpMembers, sessionTtlSeconds })),
    );
    const cluster = new HazelcastCluster(members);
    return started(cluster, async () => {
      await Promise.all(members.map((member) => member.start()));
      const sign = cpMembers > 0 ? /CP Subsystem is initialized/ : / is STARTED/;
      await Promise.all(members.map((member) => member.says(sign)));
      if (cpMembers > 0) await cluster.#warmUp();
    });
  }

  private constructor(members: readonly Member[]) {
    this.members = members;
  }

  get addresses(): string[] {
    return this.members.map(({ address }) => address);
  }

  get url(): string {
    return `hazelcast://${this.addresses.join(',')}/tests`;
  }

  /** A client of its own, which the caller shuts down. */
  connect(addresses: string[] = this.addresses): Promise<Client> {
    return hazelcastClient(addresses);
  }

  /** The first requests of a virtual machine take seconds on a busy machine. */
  async #warmUp(): Promise<void> {
    const client = await this.connect();
    const subsystem = client.getCPSubsystem();
    const reference = await subsystem.getAtomicReference<number>('warm');
    for (let n = 0; n < 300; n++) await reference.set(n);
    const lock = await subsystem.getLock('warm');
    for (let n = 0; n < 100; n++) await lock.unlock(await lock.lock());
    await client.shutdown();
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.close()));
  }
}

export function hazelcastClient(clusterMembers: string[]): Promise<Client> {
  return Client.newHazelcastClient({
    clusterName: 'tests',
    network: { clusterMembers },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
}

interface Settings {
  readonly ports: readonly number[];
  readonly cpMembers: number;
  readonly sessionTtlSeconds: number;
}

function configOf(port: number, { ports, cpMembers, sessionTtlSeconds }: Settings): string {
  return JSON.stringify({
    hazelcast: {
      'cluster-name': 'tests',
      network: {
        port: { port, 'auto-increment': false },
        interfaces: { enabled: true, interfaces: ['127.0.0.1'] },
        join: {
          'auto-detection': { enabled: false },
          multicast: { enabled: false },
          'tcp-ip': { enabled: true, 'member-list': ports.map((one) => `127.0.0.1:${one}`) },
        },
      },
      'cp-subsystem': {
        'cp-member-count': cpMembers,
        'session-time-to-live-seconds': sessionTtlSeconds,
        'session-heartbeat-interval-seconds': 1,
        // No session may last longer than a member may be missing; 0: for ever.
        'missing-cp-member-auto-removal-seconds': 0,
      },
    },
  });
}

/** Why its tests have to be skipped, if they have to. */
export function missingHazelcast(): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: Hazelcast: ${error.message}`;
  return javaProgram(HAZELCAST).then(() => undefined, why);
}
