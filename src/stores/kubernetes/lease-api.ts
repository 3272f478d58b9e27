/**
 * Requests about the leases of one namespace, each sent once, to an API server whose address and
 * credentials are given, or are those that every pod has.
 */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { UsageError } from '../../base/errors.ts';
import { checkOptions, text } from '../../base/options.ts';
import { keptOnce } from '../../base/single-flight.ts';
import { HttpClient, type HttpReply, type HttpRequest } from '../../clients/http/client.ts';
import { bodyOf, failureOf } from '../../clients/http/fate.ts';
import type { LeaseObject, LeaseSpec } from './lease.ts';

export interface KubernetesOptions {
  /** The API server's address; default: that of the cluster in which this program runs. */
  readonly url?: string;
  /** Whose leases they are; default: the namespace of the pod, else `default`. */
  readonly namespace?: string;
  /** A bearer token, or what returns the current one; default: the pod's, without `url`. */
  readonly token?: string | (() => string | Promise<string>);
  /** The authority to trust, in PEM; default: the cluster's, without `url`. */
  readonly ca?: string;
}

export class LeaseApi {
  readonly #open: () => Promise<Access>;
  #client: HttpClient | undefined;

  /** @param what names the store that was given the options. */
  constructor(options: KubernetesOptions, what: string) {
    const access = accessFrom(options, what);
    this.#open = keptOnce(async () => {
      const opened = await access();
      this.#client = opened.client;
      return opened;
    });
  }

  /** @param place below the leases: `/name`, or a query. @throws StoreError without a reply. */
  async ask(place: string, question: Omit<HttpRequest, 'path'> = {}): Promise<HttpReply> {
    try {
      const { client, path, headers } = await this.#open();
      const all = { ...(await headers()), 'content-type': 'application/json' };
      return await client.ask({ ...question, path: path + place, headers: all });
    } catch (error) {
      throw failureOf(SERVER, error);
    }
  }

  /** The reply to a watch, as it comes. */
  async watch(query: string, silenceMs: number): Promise<IncomingMessage> {
    try {
      const { client, path, headers } = await this.#open();
      const request = { path: `${path}?watch=1&${query}`, headers: await headers() };
      const message = await client.open({ ...request, silenceMs, idle: true });
      if (message.statusCode === 200) return message;
      message.destroy();
      return read<never>({ status: message.statusCode ?? 0, text: 'watch' });
    } catch (error) {
      throw failureOf(SERVER, error);
    }
  }

  /** Replaces the lease of that name, or makes one. @throws StoreError without a reply. */
  put(name: string | undefined, body: string): Promise<HttpReply> {
    if (name === undefined) return this.ask('', { method: 'POST', body });
    return this.ask(`/${name}`, { method: 'PUT', body });
  }

  async find(name: string): Promise<LeaseObject | undefined> {
    const reply = await this.ask(`/${name}`);
    return reply.status === 404 ? undefined : read<LeaseObject>(reply);
  }

  /** Makes it, or changes its spec; 'other' if it is no longer the version that was read. */
  async write(
    name: string,
    spec: LeaseSpec,
    onto: LeaseObject | undefined,
  ): Promise<LeaseObject | 'other'> {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } };
    const reply = await this.put(onto && name, JSON.stringify({ ...lease, ...onto, spec }));
    const isOther = reply.status === 409 || (onto !== undefined && reply.status === 404);
    return isOther ? 'other' : read<LeaseObject>(reply);
  }

  close(): void {
    this.#client?.close();
  }
}

const SERVER = 'The Kubernetes API server';

/** @throws StoreError for a reply that reports no success. */
export function read<T>(reply: Pick<HttpReply, 'status' | 'text'>): T {
  return bodyOf<T>(SERVER, reply);
}

interface Access {
  readonly client: HttpClient;
  readonly namespace: string;
  /** The path of the namespace's leases. */
  readonly path: string;
  headers(): Promise<Readonly<Record<string, string>>>;
}

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The cluster changes a pod's token from time to time; it is read again after this, in ms. */
const TOKEN_MS = 60_000;

const CHECKS = {
  url: text,
  namespace: text,
  ca: text,
  token(given: KubernetesOptions['token']) {
    if (['undefined', 'string', 'function'].includes(typeof given)) return given;
    throw new UsageError('token must be text, or a function that returns it.');
  },
};

/** Checks what is given; what it returns reads what the cluster gives a pod. */
export function accessFrom(options: KubernetesOptions, what: string): () => Promise<Access> {
  const { url: given, token, ca, ...rest } = checkOptions(options, CHECKS, what);
  const pod = given === undefined;
  const address = given ?? inCluster(what);
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new UsageError("url must be the API server's, such as 'https://10.0.0.1:6443'.");
  }
  const read = (name: string): Promise<string> => readFile(`${FOLDER}/${name}`, 'utf8');
  return async () => {
    const own = pod ? remembered(() => read('token')) : undefined;
    const current = typeof token === 'string' ? () => token : (token ?? own);
    const namespace = rest.namespace ?? (pod ? (await read('namespace')).trim() : 'default');
    const url = new URL(address);
    return {
      client: new HttpClient({ url, ca: ca ?? (pod ? await read('ca.crt') : undefined) }),
      namespace,
      path: `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`,
      async headers() {
        if (!current) return {};
        return { authorization: `Bearer ${(await current()).trim()}` };
      },
    };
  };
}

function inCluster(what: string): string {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host) return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const message = `This program does not run in a cluster of Kubernetes: ${what} needs url`;
  throw new UsageError(`${message}, and what the API server asks for: token and ca.`);
}

function remembered(read: () => Promise<string>): () => Promise<string> {
  let last: { readonly at: number; readonly text: string } | undefined;
  return async () => {
    const at = performance.now();
    if (!last || at - last.at > TOKEN_MS) last = { at, text: await read() };
    return last.text;
  };
}
