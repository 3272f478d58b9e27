/** What a session sends over its next connection: identities, then watches, then requests. */
import type { Auth } from '../address.ts';
import type { ZookeeperLink } from '../link.ts';
import { Exchange } from '../wire/exchange.ts';
import { authenticate } from '../wire/requests.ts';

export class Outbox {
  readonly #auths: Auth[];
  /** Requests that were made while there was no connection. */
  #requests: Exchange[] = [];

  constructor(auths: readonly Auth[]) {
    this.#auths = [...auths];
  }

  /** Each later connection sends it. */
  identify(auth: Auth): void {
    this.#auths.push(auth);
  }

  keep(request: Exchange): void {
    this.#requests.push(request);
  }

  sendAll(link: ZookeeperLink, watches: Iterable<Buffer>): void {
    for (const auth of this.#auths) {
      const exchange = new Exchange(authenticate(auth), undefined);
      exchange.answer.catch(() => {});
      link.send(exchange as Exchange);
    }
    for (const frame of watches) link.write(frame);
    for (const request of this.#requests.splice(0)) if (!request.settled) link.send(request);
  }

  fail(error: Error): void {
    for (const request of this.#requests.splice(0)) request.fail(error);
  }
}
