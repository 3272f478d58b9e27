/** A real etcd, alone or as one of several. */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HANG_MS } from '../support/this-run.ts';
import { freePort } from './ports.ts';
import { beside, type Command, findProgram, type ProgramName } from './programs.ts';
import { LocalServer, started } from './server-process.ts';
import { certificates } from './tls.ts';

export interface EtcdOptions {
  /** Default: `etcd`. */
  readonly program?: ProgramName & ('etcd' | 'etcd-3.5');
  /** Options of its command line, which win over those of every server. */
  readonly config?: readonly string[];
  /** Speaks TLS to clients; `client-certificates`: and wants certificates of them. */
  readonly tls?: boolean | 'client-certificates';
  /** Users besides root, whose password is `root`. Default: whoever comes is let in. */
  readonly users?: readonly EtcdUser[];
}

interface EtcdUser {
  readonly name: string;
  readonly password: string;
  /** May read and write the keys that begin so. */
  readonly prefix: string;
}

/** What a server of a cluster is told of it. */
export interface Membership {
  readonly name: string;
  readonly peerPort: number;
  /** The servers' names, and where others find them. */
  readonly peers: readonly (readonly [name: string, url: string])[];
  /** Certificates and keys, if it speaks TLS. */
  readonly files: Readonly<Record<string, string>> | undefined;
}

const ROOT = { name: 'root', password: 'root' };

/** It elects itself soon, checks passwords quickly, and grants leases of one second. */
const CONFIG = ['--heartbeat-interval=20', '--election-timeout=200', '--bcrypt-cost=4'];

/** It does not run on other processors unless it is told to. */
const UNSUPPORTED = process.arch === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: process.arch };

export class EtcdServer extends LocalServer {
  /** The certificate of the authority that a client has to trust, if it speaks TLS. */
  readonly ca: string;
  protected readonly args: readonly string[];
  readonly #tls: EtcdOptions['tls'];
  #withPasswords = false;

  /** Not started: it answers when most members are there. */
  static async member(membership: Membership, options: EtcdOptions): Promise<EtcdServer> {
    const program = await findProgram(options.program ?? 'etcd');
    const ports = [await freePort(), await freePort(), membership.peerPort] as const;
    return new EtcdServer(program, ports, membership, options);
  }

  private constructor(
    program: Command,
    ports: readonly [port: number, metricsPort: number, peerPort: number],
    { name, peers, files = {} }: Membership,
    { config = [], tls = false }: EtcdOptions,
  ) {
    super({ name: 'etcd', program, ports, env: UNSUPPORTED });
    const [, metricsPort, peerPort] = ports;
    this.#tls = tls;
    this.ca = files['ca.crt'] ?? '';
    for (const [file, text] of Object.entries(files)) writeFileSync(this.#file(file), text);
    this.args = [
      `--name=${name}`,
      `--data-dir=${this.#file('data')}`,
      `--listen-client-urls=${this.clientUrl}`,
      `--advertise-client-urls=${this.clientUrl}`,
      `--listen-metrics-urls=http://${this.host}:${metricsPort}`,
      `--listen-peer-urls=http://${this.host}:${peerPort}`,
      `--initial-advertise-peer-urls=${new Map(peers).get(name)}`,
      `--initial-cluster=${peers.map((peer) => peer.join('=')).join(',')}`,
      ...CONFIG,
      ...(tls ? [`--cert-file=${this.#file('server.crt')}`] : []),
      ...(tls ? [`--key-file=${this.#file('server.key')}`] : []),
      ...(tls === 'client-certificates' ? ['--client-cert-auth', this.#trusted] : []),
      ...config,
    ];
  }

  /** As the locks are given it; without the name of a user. */
  override get url(): string {
    return `${this.#tls ? 'etcds' : 'etcd'}://${this.host}:${this.port}`;
  }

  /** As etcd's own programs are given it. */
  get clientUrl(): string {
    return `${this.#tls ? 'https' : 'http'}://${this.host}:${this.port}`;
  }

  /** Its disk is gone. It must not run. */
  wipe(): void {
    rmSync(this.#file('data'), { recursive: true, force: true });
  }

  /** It can be written. */
  protected answers(): Promise<boolean> {
    return this.healthy();
  }

  /** Whether it has a leader, and can be written. */
  async healthy(): Promise<boolean> {
    return (await this.#page('health')).includes('"health":"true"');
  }

  async leads(): Promise<boolean> {
    return /^etcd_server_is_leader 1$/m.test(await this.#page('metrics'));
  }

  async hasLeader(): Promise<boolean> {
    return /^etcd_server_has_leader 1$/m.test(await this.#page('metrics'));
  }

  /** What etcd's own program prints, run as root if there are users. */
  async etcdctl(...args: readonly string[]): Promise<string> {
    const [program = '', ...before] = this.etcdctlCommand;
    const command = [...before, ...args];
    const env = { ...process.env, ETCDCTL_API: '3' };
    const { stdout } = await promisify(execFile)(program, command, { env, timeout: HANG_MS });
    return stdout;
  }

  /** How to start it, up to what it is to do; it wants `ETCDCTL_API=3` in its environment. */
  get etcdctlCommand(): readonly string[] {
    const user = this.#withPasswords ? [`--user=${ROOT.name}:${ROOT.password}`] : [];
    const ca = this.#tls ? [`--cacert=${this.#file('ca.crt')}`] : [];
    const certificate = [`--cert=${this.#file('server.crt')}`, `--key=${this.#file('server.key')}`];
    return [
      ...beside(this.program, 'etcdctl'),
      `--endpoints=${this.clientUrl}`,
      ...[...ca, ...(this.#tls === 'client-certificates' ? certificate : []), ...user],
    ];
  }

  /** From now on none but root and these. */
  async letIn(users: readonly EtcdUser[] | undefined): Promise<void> {
    if (users === undefined) return;
    await this.etcdctl('user', 'add', `${ROOT.name}:${ROOT.password}`);
    await this.etcdctl('user', 'grant-role', ROOT.name, 'root');
    for (const { name, password, prefix } of users) {
      await this.etcdctl('user', 'add', `${name}:${password}`);
      await this.etcdctl('role', 'add', name);
      const keys = prefix === '' ? ['', '--from-key'] : [prefix, '--prefix'];
      await this.etcdctl('role', 'grant-permission', name, 'readwrite', ...keys);
      await this.etcdctl('user', 'grant-role', name, name);
    }
    await this.etcdctl('auth', 'enable');
    this.#withPasswords = true;
  }

  /** The other members of its cluster were told to let in only users. */
  knowUsers(): void {
    this.#withPasswords = true;
  }

  #file(name: string): string {
    return join(this.folder, name);
  }

  get #trusted(): string {
    return `--trusted-ca-file=${this.#file('ca.crt')}`;
  }

  async #page(path: string): Promise<string> {
    const url = `http://${this.host}:${this.ports[1]}/${path}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(HANG_MS) });
    return response.text();
  }
}

export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdServer> {
  const files = options.tls ? await certificates() : undefined;
  const peerPort = await freePort();
  const peers = [['alone', `http://127.0.0.1:${peerPort}`]] as const;
  const server = await EtcdServer.member({ name: 'alone', peerPort, peers, files }, options);
  return started(server, async () => {
    await server.start();
    await server.letIn(options.users);
  });
}
