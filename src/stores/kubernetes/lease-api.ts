/** Requests about the leases of one namespace, each sent once. */
import type { IncomingMessage } from 'node:http';
import { keptOnce } from '../../base/single-flight.ts';
import type { HttpClient, HttpReply, HttpRequest } from '../../clients/http/client.ts';
import { bodyOf, failureOf } from '../../clients/http/fate.ts';
import { type Access, accessFrom, type KubernetesOptions } from './access.ts';
import type { LeaseObject, LeaseSpec } from './lease.ts';

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

  /**
   * Makes it, or changes its spec if it is still the version that was read; 'other' if it is not.
   */
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
