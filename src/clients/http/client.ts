/**
 * HTTP requests, each sent once; unlike `fetch`, they accept a certificate authority of one's own.
 * A reply of any status is a reply; a request that rejects had none.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

export interface HttpPlace {
  /** What all requests begin with. */
  readonly url: URL;
  /** The certificate of the authority to trust, in PEM; default: those that Node knows. */
  readonly ca?: string | undefined;
}

export interface HttpRequest {
  readonly path: string;
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long the server may be silent, in ms; default 10 s. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
  /** It keeps no process alive: one that waits for changes, perhaps for ever. */
  readonly idle?: boolean;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Core waits for less: what is older is given up. */
const SILENCE_MS = 10_000;

export class HttpClient {
  readonly #place: HttpPlace;
  readonly #agent: Agent;

  constructor(place: HttpPlace) {
    this.#place = place;
    const tls = place.url.protocol === 'https:';
    const ca = place.ca === undefined ? {} : { ca: place.ca };
    this.#agent = tls ? new TlsAgent({ keepAlive: true, ...ca }) : new Agent({ keepAlive: true });
  }

  /** The reply as a whole. */
  async ask(question: HttpRequest): Promise<HttpReply> {
    const message = await this.open(question);
    let text = '';
    for await (const piece of message.setEncoding('utf8')) text += piece;
    return { status: message.statusCode ?? 0, headers: message.headers, text };
  }

  /** The reply as it comes. */
  open(question: HttpRequest): Promise<IncomingMessage> {
    const { path, method = 'GET', headers = {}, body, silenceMs = SILENCE_MS } = question;
    const { signal, idle = false } = question;
    const { url } = this.#place;
    const send = url.protocol === 'https:' ? tlsRequest : request;
    // Node adds no length to the body of a DELETE, and the server takes it for the next request.
    const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` };
    const base = `${url.origin}${url.pathname.replace(/\/$/, '')}`;
    return new Promise((resolve, reject) => {
      const sent = send(
        `${base}${path}`,
        {
          method,
          headers: { ...headers, ...length },
          agent: this.#agent,
          timeout: silenceMs,
          ...(signal && { signal }),
        },
        resolve,
      );
      if (idle) sent.once('socket', (socket) => socket.unref());
      sent.once('timeout', () => sent.destroy(new Error(`no reply within ${silenceMs} ms`)));
      sent.once('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
