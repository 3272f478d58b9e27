/** A real API server of Kubernetes, on an etcd of its own, with no nodes. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { type EtcdServer, startEtcd } from './etcd-server.ts';
import { kubeApiserver } from './kubernetes-program.ts';
import { freePort } from './ports.ts';
import { LocalServer, started } from './server-process.ts';
import { certificates } from './tls.ts';

const ADMIN = 'admin-secret';

/** May do what the page of the store says. */
export const TOKEN = 'locks-secret';

const TOKENS = `${ADMIN},admin,admin,system:masters\n${TOKEN},locks,locks\n`;

export class KubernetesServer extends LocalServer {
  /** The token of one who may do everything. */
  readonly admin: string = ADMIN;
  readonly ca: string;
  readonly #etcd: EtcdServer;

  static async start(): Promise<KubernetesServer> {
    const program = await kubeApiserver();
    const files = await certificates();
    const etcd = await startEtcd({ program: 'etcd-3.5' });
    const server = new KubernetesServer(program, await freePort(), etcd, files);
    return started(server, () => server.start());
  }

  private constructor(
    program: string,
    port: number,
    etcd: EtcdServer,
    files: Readonly<Record<string, string>>,
  ) {
    super({ name: 'kubernetes', program: [program], ports: [port] });
    this.ca = files['ca.crt'] ?? '';
    this.#etcd = etcd;
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      ...{ modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' } },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const all = { ...files, 'accounts.key': privateKey, 'accounts.pub': publicKey, tokens: TOKENS };
    for (const [name, text] of Object.entries(all)) writeFileSync(join(this.folder, name), text);
  }

  override get url(): string {
    return `https://${this.host}:${this.port}`;
  }

  /** A file with `ca`. */
  get caFile(): string {
    return join(this.folder, 'ca.crt');
  }

  protected get args(): string[] {
    const file = (name: string): string => join(this.folder, name);
    return [
      `--etcd-servers=${this.#etcd.clientUrl}`,
      ...[`--bind-address=${this.host}`, `--secure-port=${this.port}`],
      ...[`--tls-cert-file=${file('server.crt')}`, `--tls-private-key-file=${file('server.key')}`],
      ...['--service-account-issuer=https://kubernetes', `--cert-dir=${file('certificates')}`],
      `--service-account-signing-key-file=${file('accounts.key')}`,
      `--service-account-key-file=${file('accounts.pub')}`,
      ...[`--token-auth-file=${file('tokens')}`, '--authorization-mode=RBAC'],
      ...['--service-cluster-ip-range=10.0.0.0/24', '--disable-admission-plugins=ServiceAccount'],
    ];
  }

  protected async answers(): Promise<boolean> {
    return (await this.ask('/readyz')).status === 200;
  }

  /** As one who may do everything. */
  ask(
    path: string,
    body?: object,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' = body ? 'POST' : 'GET',
  ): Promise<{ readonly status: number; readonly text: string }> {
    const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
    const options = { method, headers, agent: new Agent({ ca: this.ca }) };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, options, async (reply) => {
        let text = '';
        for await (const piece of reply) text += piece;
        resolve({ status: reply.statusCode ?? 0, text });
      });
      sent.once('error', reject).end(body && JSON.stringify(body));
    });
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#etcd.close();
  }
}

/** Why its tests have to be skipped, if they have to. */
export function missingKubernetes(): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: Kubernetes: ${error.message}`;
  return kubeApiserver().then(() => undefined, why);
}
