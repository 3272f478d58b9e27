/** A real ZooKeeper, alone or one of three. Whoever connects from loopback is let in. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../support/until.ts';
import { freePort } from './ports.ts';
import { type Command, findProgram, folderOf } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

export interface ZookeeperServerOptions {
  /** Lines of its configuration, after those that every server here has. */
  readonly config?: readonly string[];
  /**
   * As its makers start it: it waits for the disk, its heap may grow, and its unit of time is 2 s.
   * Default: false, and 200 ms, so that sessions of 400 ms are possible.
   */
  readonly inProduction?: boolean;
  /** Lets clients connect with TLS too; the key and its certificates, in one text. */
  readonly tls?: { readonly pem: string };
  /** Containers that it starts with: the number that the next sequential child of each gets. */
  readonly counters?: Readonly<Record<string, number>>;
}

/** What one of an ensemble knows of the others. */
export interface Membership {
  readonly id: number;
  /** All of them by id, itself included: `host:quorumPort:electionPort`. */
  readonly members: Readonly<Record<number, string>>;
}

/** Jars of Debian, below `/usr/share/java`. */
const JARS = [
  ...['zookeeper', 'zookeeper-jute', 'slf4j-api', 'slf4j-simple', 'snappy-java', 'metrics-core'],
  ...['commons-cli', 'commons-io'],
];
/** What TLS needs. */
const NETTY_JARS = [
  ...['netty-buffer', 'netty-common', 'netty-handler', 'netty-codec', 'netty-resolver'],
  ...['netty-transport', 'netty-transport-native-epoll', 'netty-transport-native-unix-common'],
];
/** For clients in Java, which log nothing. */
const CURATOR_JARS = [
  ...['slf4j-nop', 'curator-client', 'curator-framework', 'curator-recipes', 'guava'],
];

/** Of every server: it can be asked, and leaves no files in shared folders. */
const JVM = [
  ...['-Dzookeeper.admin.enableServer=false', '-Dzookeeper.4lw.commands.whitelist=*'],
  ...['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-XX:-UsePerfData'],
];
/**
 * Small and quick to start. Nothing waits for the disk: what was written survives the end of the
 * process, and no machine ends here.
 */
const FOR_TESTS = [
  ...['-Xms32m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
  ...['-Dzookeeper.forceSync=no', '-Dzookeeper.preAllocSize=64'],
];
/** The heap of its own start script; all else is its default. */
const IN_PRODUCTION = ['-Xmx1000m'];
/** The server's other way to speak to clients, which alone knows TLS. */
const NETTY = ['-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory'];

const SNAPSHOT = fileURLToPath(new URL('children/zookeeper-snapshot.java', import.meta.url));

export class ZookeeperServer extends LocalServer {
  protected readonly args: readonly string[];
  readonly #data: string;

  /** It does not run yet. */
  static async prepare(
    options: ZookeeperServerOptions,
    membership?: Membership,
  ): Promise<ZookeeperServer> {
    const java = await findProgram('java');
    const ports = [await freePort(), ...(options.tls ? [await freePort()] : [])];
    const server = new ZookeeperServer(java, ports, { ...options, membership });
    if (options.counters) await writeSnapshot(server.#data, options.counters);
    return server;
  }

  private constructor(
    java: Command,
    ports: readonly number[],
    options: ZookeeperServerOptions & { readonly membership: Membership | undefined },
  ) {
    super({ name: 'zookeeper', program: java, ports });
    const { inProduction = false, config = [], tls, membership } = options;
    const tickTime = inProduction ? 2000 : 200;
    const { folder } = this;
    const data = join(folder, 'data');
    this.#data = data;
    mkdirSync(data);
    if (membership) writeFileSync(join(data, 'myid'), `${membership.id}\n`);
    if (tls) writeFileSync(join(folder, 'server.pem'), tls.pem);
    const lines = [
      ...[`dataDir=${data}`, `clientPort=${this.port}`, `clientPortAddress=${this.host}`],
      ...[`tickTime=${tickTime}`, 'maxClientCnxns=0'],
      ...(inProduction ? [] : ['maxSessionTimeout=600000', 'extendedTypesEnabled=true']),
      ...(tls ? tlsLines(this.tlsPort, join(folder, 'server.pem')) : []),
      ...(membership ? memberLines(membership) : []),
      ...config,
    ];
    const file = join(folder, 'zoo.cfg');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    const path = classPath(java, tls ? [...JARS, ...NETTY_JARS] : JARS);
    const jvm = [...JVM, ...(inProduction ? IN_PRODUCTION : FOR_TESTS), ...(tls ? NETTY : [])];
    this.args = [...jvm, '-cp', path, main, file];
  }

  /** Undefined without TLS. */
  get tlsPort(): number | undefined {
    return this.ports[1];
  }

  get address(): string {
    return `${this.host}:${this.port}`;
  }

  override get url(): string {
    return `zookeeper://${this.address}`;
  }

  protected async answers(): Promise<boolean> {
    return (await this.mode()) !== undefined;
  }

  /** One of its commands of four letters, such as `mntr`: what it answers. */
  fourLetters(word: string): Promise<string> {
    return talk(this.port, Buffer.from(word));
  }

  /** `standalone`, `leader` or `follower`; undefined while it does not serve. */
  async mode(): Promise<string | undefined> {
    return /^Mode: (\w+)$/m.exec(await this.fourLetters('srvr'))?.[1];
  }

  /**
   * Ends a client's session, as its time-out would. Any server of an ensemble will do. A session's
   * password is computed from its number, so nobody needs to have been told.
   */
  async endSession(id: bigint): Promise<void> {
    const hello = Buffer.alloc(49);
    hello.writeInt32BE(45, 0);
    hello.writeInt32BE(10_000, 16);
    hello.writeBigInt64BE(id, 20);
    hello.writeInt32BE(16, 28);
    passwordOf(id).copy(hello, 32);
    const closing = Buffer.alloc(12);
    closing.writeInt32BE(8, 0);
    closing.writeInt32BE(1, 4);
    closing.writeInt32BE(-11, 8);
    // The client may take its session back before the end is read. Then once more, until the
    // server has no such session: it answers with a time-out of 0.
    await until('the end of the session', async () => {
      const answer = await talk(this.port, Buffer.concat([hello, closing]));
      return answer.length >= 12 && Buffer.from(answer, 'latin1').readInt32BE(8) <= 0;
    });
  }
}

export async function startZookeeper(
  options: ZookeeperServerOptions = {},
): Promise<ZookeeperServer> {
  const server = await ZookeeperServer.prepare(options);
  return started(server, () => server.start());
}

/** How to run a Java source file that may use ZooKeeper's client and Curator. */
export async function javaProgram(file: string, ...args: string[]): Promise<Command> {
  const java = await findProgram('java');
  const jvm = ['-XX:TieredStopAtLevel=1', '-XX:-UsePerfData', '-cp', await curatorClassPath()];
  return [...java, ...jvm, file, ...args];
}

/** Of Debian's Curator. */
export async function curatorVersion(): Promise<string> {
  const jars = readdirSync(jarFolder(await findProgram('java'))).join();
  return /curator-recipes-([\d.]+)\.jar/.exec(jars)?.[1] ?? 'of an unknown version';
}

/** Debian's Curator, and ZooKeeper's client, for programs that are compiled with them. */
export async function curatorClassPath(): Promise<string> {
  const jars = [...JARS.filter((jar) => jar !== 'slf4j-simple'), ...CURATOR_JARS];
  return classPath(await findProgram('java'), jars);
}

function classPath(java: Command, jars: readonly string[]): string {
  return jars.map((jar) => join(jarFolder(java), `${jar}.jar`)).join(':');
}

function jarFolder(java: Command): string {
  return join(folderOf(java), '../../../../share/java');
}

/** What a server starts with, as one would have left it. */
async function writeSnapshot(
  folder: string,
  counters: Readonly<Record<string, number>>,
): Promise<void> {
  const words = Object.entries(counters).flat().map(String);
  const [program, ...args] = await javaProgram(SNAPSHOT, folder, ...words);
  await promisify(execFile)(program, args);
}

function tlsLines(port: number | undefined, pem: string): string[] {
  return [
    ...[`secureClientPort=${port}`, 'secureClientPortAddress=127.0.0.1'],
    ...[`ssl.keyStore.location=${pem}`, `ssl.trustStore.location=${pem}`, 'ssl.clientAuth=none'],
  ];
}

function memberLines({ members }: Membership): string[] {
  const servers = Object.entries(members).map(([id, address]) => `server.${id}=${address}`);
  return ['initLimit=50', 'syncLimit=20', ...servers];
}

/** Writes to the server, and reads until it ends the connection. */
function talk(port: number, text: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => void socket.write(text));
    socket.setTimeout(5000, () => socket.destroy(new Error('the server says nothing')));
    socket.setEncoding('latin1').on('data', (more: string) => (said += more));
    socket.once('error', reject).once('close', () => resolve(said));
  });
}

/** As the server computes it, with Java's generator of random numbers. */
function passwordOf(id: bigint): Buffer {
  const multiplier = 0x5deece66dn;
  const mask = (1n << 48n) - 1n;
  let seed = (id ^ 0xb3415c00n ^ multiplier) & mask;
  const password = Buffer.alloc(16);
  for (let at = 0; at < 16; at += 4) {
    seed = (seed * multiplier + 0xbn) & mask;
    password.writeInt32LE(Number(BigInt.asIntN(32, seed >> 16n)), at);
  }
  return password;
}
