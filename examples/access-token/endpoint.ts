/** A token endpoint over HTTP, as strict as many are: it takes each refresh token once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Token {
  readonly access: string;
  /** What the next one is to be had for. */
  readonly refresh: string;
  readonly validMs: number;
}

/** How long a token is good for, and how long it takes to make one, in ms. */
const VALID_MS = 300;
const LATENCY_MS = 30;

export class TokenEndpoint {
  /** Requests that were answered with a token. */
  issued = 0;
  /** Requests with a refresh token that had been used before. */
  refused = 0;
  readonly #server = createServer(async (request, response) => {
    const token = this.#answer(await text(request));
    await sleep(LATENCY_MS);
    response.statusCode = token ? 200 : 400;
    response.end(JSON.stringify(token ?? { error: 'invalid_grant' }));
  });

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/token`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(refresh: string): Token | undefined {
    if (refresh !== `refresh ${this.issued}`) {
      this.refused++;
      return undefined;
    }
    this.issued++;
    const number = this.issued;
    return { access: `access ${number}`, refresh: `refresh ${number}`, validMs: VALID_MS };
  }
}
