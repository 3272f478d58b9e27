/** A service of objects over HTTP: GET, and PUT on a condition, each carried out in one step. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { portOf } from '../support/listening.ts';

/** What happens to a request. Lost: no reply comes. */
export type Mishap =
  | 'lost before it arrived'
  | 'lost after it was carried out'
  | { readonly status: number }
  /** Carried out once this is settled; no reply comes. */
  | { readonly late: Promise<void> };

export interface ServiceOptions {
  /** What ETags are made of; default `text`, as in S3. */
  readonly etags?: 'text' | 'version' | 'weak' | 'none';
  /** It does not look at these, as some do. */
  readonly ignores?: readonly ('if-match' | 'if-none-match')[];
  /** It tells no ETag in reply to a PUT. */
  readonly silent?: boolean;
  /** It looks whether the condition holds, and writes once this is settled. */
  readonly beforeWriting?: () => Promise<void>;
}

export class ObjectServer {
  url = '';
  readonly texts: Map<string, string> = new Map();
  /** Requests that were carried out, or refused by their conditions, as `PUT 412`. */
  readonly log: string[] = [];
  /** How many conditions were found to hold. */
  looked = 0;
  /** What happens to the next ones. */
  readonly mishaps: (Mishap | undefined)[] = [];
  readonly #versions = new Map<string, number>();
  readonly #options: ServiceOptions;
  readonly #server: Server;

  static async start(options: ServiceOptions = {}): Promise<ObjectServer> {
    const service = new ObjectServer(options);
    service.url = `http://127.0.0.1:${await portOf(service.#server)}/`;
    onTestFinished(() => service.close());
    return service;
  }

  private constructor(options: ServiceOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Past all conditions. */
  put(key: string, text: string): void {
    this.texts.set(key, text);
    this.#versions.set(key, (this.#versions.get(key) ?? 0) + 1);
  }

  etagOf(key: string): string | undefined {
    const text = this.texts.get(key);
    if (text === undefined) return undefined;
    const { etags = 'text' } = this.#options;
    if (etags === 'version') return `"${this.#versions.get(key)}"`;
    const hash = `"${createHash('md5').update(text).digest('hex')}"`;
    return etags === 'weak' ? `W/${hash}` : hash;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const mishap = this.mishaps.shift();
    if (mishap === 'lost before it arrived') return void request.socket.destroy();
    if (typeof mishap === 'object' && 'status' in mishap) {
      return void response.writeHead(mishap.status).end();
    }
    if (typeof mishap === 'object') {
      request.socket.destroy();
      await mishap.late;
    }
    const key = decodeURIComponent(request.url?.slice(1) ?? '');
    const [status, text] =
      request.method === 'GET' ? this.#get(key) : await this.#put(key, body, request);
    this.log.push(`${request.method} ${status}`);
    if (mishap !== undefined) return void request.socket.destroy();
    const { etags, silent } = this.#options;
    const etag = this.etagOf(key);
    const told = etags !== 'none' && !(silent && request.method === 'PUT');
    response.writeHead(status, { ...(etag && told && { etag }) }).end(text);
  }

  #get(key: string): [status: number, text: string] {
    const text = this.texts.get(key);
    return text === undefined ? [404, ''] : [200, text];
  }

  async #put(
    key: string,
    text: string,
    { headers }: IncomingMessage,
  ): Promise<[status: number, text: string]> {
    const { ignores = [], beforeWriting } = this.#options;
    const there = this.etagOf(key);
    const match = ignores.includes('if-match') ? undefined : headers['if-match'];
    const none = ignores.includes('if-none-match') ? undefined : headers['if-none-match'];
    // A weak one matches nothing.
    const fails = match !== undefined && (match !== there || match.startsWith('W/'));
    if (fails || (none === '*' && there !== undefined)) return [412, ''];
    this.looked++;
    await beforeWriting?.();
    this.put(key, text);
    return [there === undefined ? 201 : 200, ''];
  }
}
