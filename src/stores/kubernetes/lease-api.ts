/** Requests about the leases of one namespace, each sent once. */
import type { IncomingMessage } from 'node:http';
import { HttpClient, type HttpReply, type HttpRequest } from '../../clients/http/client.ts';
import { failureOf } from '../../clients/http/fate.ts';
import type { StoreError } from '../../contract/errors.ts';
import { type Access, accessFrom, type KubernetesOptions } from './access.ts';
import type { LeaseObject, LeaseSpec } from './lease.ts';

interface ApiPath {
  readonly client: HttpClient;
  readonly access: Access;
  /** The path of the namespace's leases. */
  readonly path: string;
}

export class LeaseApi {
  readonly #access: () => Promise<Access>;
  #way: Promise<ApiPath> | undefined;

  /** @param what names the store that was given the options. @throws UsageError */
  constructor(options: KubernetesOptions, what: string) {
    this.#access = accessFrom(options, what);
  }

  /** @param place below the leases: `/name`, or a query. @throws StoreError without a reply. */
  async ask(place: string, question: Omit<HttpRequest, 'path'> = {}): Promise<HttpReply> {
    try {
      const { access, client, path } = await this.#open();
      const headers = { ...(await access.headers()), 'content-type': 'application/json' };
      return await client.ask({ ...question, path: path + place, headers });
    } catch (error) {
      throw failed(error);
    }
  }

  /** The reply to a watch, as it comes. @throws StoreError */
  async watch(query: string, silenceMs: number): Promise<IncomingMessage> {
    try {
      const { access, client, path } = await this.#open();
      const headers = await access.headers();
      const place = `${path}?watch=1&${query}`;
      const message = await client.open({ path: place, headers, silenceMs, idle: true });
      if (message.statusCode === 200) return message;
      message.destroy();
      throw unexpected({ status: message.statusCode ?? 0, text: 'watch', headers: {} });
    } catch (error) {
      throw failed(error);
    }
  }

  /** @throws StoreError */
  async find(name: string): Promise<LeaseObject | undefined> {
    const reply = await this.ask(`/${name}`);
    return reply.status === 404 ? undefined : read<LeaseObject>(reply);
  }

  /**
   * Makes it, or changes its spec if it is still the version that was read; 'other' if it is not.
   * @throws StoreError
   */
  async write(
    name: string,
    spec: LeaseSpec,
    onto: LeaseObject | undefined,
  ): Promise<LeaseObject | 'other'> {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } };
    const body = JSON.stringify({ ...lease, ...onto, spec });
    const reply = onto
      ? await this.ask(`/${name}`, { method: 'PUT', body })
      : await this.ask('', { method: 'POST', body });
    const isOther = reply.status === 409 || (onto !== undefined && reply.status === 404);
    return isOther ? 'other' : read<LeaseObject>(reply);
  }

  async close(): Promise<void> {
    // What never opened is closed.
    await this.#way?.then(({ client }) => client.close()).catch(() => {});
  }

  #open(): Promise<ApiPath> {
    this.#way ??= this.#access().then((access) => {
      const namespace = encodeURIComponent(access.namespace);
      const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      return { access, client: new HttpClient(access), path };
    });
    this.#way.catch(() => {
      this.#way = undefined;
    });
    return this.#way;
  }
}

/** @throws StoreError for a reply that reports no success. */
export function read<T>(reply: HttpReply): T {
  if (reply.status >= 200 && reply.status < 300) return JSON.parse(reply.text) as T;
  throw unexpected(reply);
}

function unexpected({ status, text }: HttpReply): StoreError {
  const [, said = text] = /"message":"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return failed(Object.assign(new Error(`HTTP ${status}: ${said}`), { status }));
}

function failed(error: unknown): StoreError {
  return failureOf('The Kubernetes API server', error);
}
