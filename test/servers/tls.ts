import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';
import { findProgram } from './programs.ts';
import { RedisServer, type RedisServerOptions } from './redis-server.ts';

export interface TlsServer {
  readonly server: RedisServer;
  readonly url: string;
  /** The certificate of the authority that a client has to trust. */
  readonly ca: string;
}

const REQUESTS = `
[req]
distinguished_name = name
prompt = no
[name]
CN = holdfast tests
[authority]
basicConstraints = critical, CA:true
[server]
subjectAltName = IP:127.0.0.1, DNS:localhost
`;

/** A server that speaks TLS and nothing else, with a certificate for 127.0.0.1 and localhost. */
export async function startTls(options: RedisServerOptions = {}): Promise<TlsServer> {
  const files = await certificates();
  const port = await freePort();
  const config = [
    ...['port 0', `tls-port ${port}`, 'tls-auth-clients no', 'tls-ca-cert-file ca.crt'],
    ...['tls-cert-file server.crt', 'tls-key-file server.key', ...(options.config ?? [])],
  ];
  const server = await RedisServer.start({ ...options, port, config, files });
  return { server, url: `rediss://${server.host}:${port}`, ca: files['ca.crt'] ?? '' };
}

/** New certificates of an authority and a server, and the server's key, by file name. */
export async function certificates(): Promise<Record<string, string>> {
  const [openssl, ...before] = await findProgram('openssl');
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
  const make = async (name: string, ...more: string[]): Promise<void> => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const out = ['-keyout', `${name}.key`, '-out', `${name}.crt`, '-days', '2'];
    const request = ['req', '-x509', '-config', 'requests', ...key, ...out, ...more];
    await promisify(execFile)(openssl, [...before, ...request], { cwd: folder });
  };
  try {
    await writeFile(join(folder, 'requests'), REQUESTS);
    await make('ca', '-extensions', 'authority');
    await make('server', '-extensions', 'server', '-CA', 'ca.crt', '-CAkey', 'ca.key');
    const names = ['ca.crt', 'server.crt', 'server.key'];
    const read = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]);
    return Object.fromEntries(await Promise.all(read));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
