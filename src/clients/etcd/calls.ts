/**
 * Unary requests, and lasting streams.
 *
 * A request has three seconds in all. It goes to another server only if the first has surely not
 * carried it out: it did not leave, or the server has no leader, although every request demands
 * one. It is sent again with a new token only when it was refused for the old one.
 */
import { Answer } from '../../base/answer.ts';
import { afterInput } from '../../base/event-loop.ts';
import { singleFlight } from '../../base/single-flight.ts';
import type { EtcdChannel } from './channel.ts';
import type { EtcdChannels } from './channels.ts';
import { EtcdRefusal, isLeaderless, isTokenOld, NoAnswer, storeError } from './errors.ts';
import type { Received, RpcStream } from './rpc-stream.ts';
import { decode, encode, type Message, message, plain, text } from './wire/protobuf.ts';

/** A lock has no use for a later reply; a healthy server replies within one second. */
export const DEADLINE_MS = 3000;

export interface RpcMethod<Q, A> {
  readonly path: string;
  readonly request: Message<Q>;
  readonly read: (answer: Buffer) => A;
}

export interface User {
  readonly name: string;
  readonly password: string;
}

const authenticated: Message<{ token: string }> = message(() => ({ token: plain(2, text) }));

const AUTHENTICATE: RpcMethod<User, string> = {
  path: '/etcdserverpb.Auth/Authenticate',
  request: message(() => ({ name: plain(1, text), password: plain(2, text) })),
  read: (answer) => decode(authenticated, answer).token,
};

interface CallAttempt {
  readonly channel: EtcdChannel;
  readonly token: string | undefined;
}

export class Calls {
  readonly #channels: EtcdChannels;
  readonly #user: User | undefined;
  /** Empty: the server knows no users. */
  #token: string | undefined;

  constructor(channels: EtcdChannels, user: User | undefined) {
    this.#channels = channels;
    this.#user = user;
  }

  /** Rejects with a StoreError, by `end` on the clock of `performance`. */
  call<Q, A>(
    method: RpcMethod<Q, A>,
    request: Q,
    end: number = performance.now() + DEADLINE_MS,
  ): Answer<A> {
    const message = encode(method.request, request);
    // One address may stand for several servers.
    let moves = this.#channels.endpoints;
    let tokens = this.#user ? 1 : 0;
    const send = ({ channel, token }: CallAttempt): Answer<A> => {
      const asked = { path: method.path, metadata: metadataOf(token) };
      const sent = Answer.of<Buffer>(() => channel.call(asked, message, left(end)));
      const answered = sent.map((answer) => read(method, answer));
      return answered.or((error) => {
        if (isTokenOld(error) && tokens-- > 0) this.forget(token);
        else if (!isElsewhere(error) || moves-- <= 0) throw error;
        else channel.retire('another server may be better');
        return attempt();
      });
    };
    const attempt = (): Answer<A> => {
      const ready = this.#ready() ?? before(end, this.#attempt(end));
      return Answer.of<CallAttempt>(() => ready).chain<A>(send);
    };
    return attempt().or((error): never => {
      throw storeError(error);
    });
  }

  /** Resolves when the stream is there; `received` gets its end. Rejects as calls do. */
  async stream(path: string, received: Received): Promise<RpcStream> {
    const end = performance.now() + DEADLINE_MS;
    const { channel, token } = this.#ready() ?? (await this.#attempt(end));
    const ended = (error: EtcdRefusal | NoAnswer | undefined): void => {
      if (isTokenOld(error)) this.forget(token);
      else if (isLeaderless(error)) channel.retire('it has no leader');
      received.ended(error);
    };
    return channel.stream({ path, metadata: metadataOf(token) }, { ...received, ended });
  }

  forget(token: string | undefined = this.#token): void {
    if (this.#token === token) this.#token = undefined;
  }

  #ready(): CallAttempt | undefined {
    const { current: channel } = this.#channels;
    if (!channel || (this.#user && this.#token === undefined)) return undefined;
    return { channel, token: this.#token };
  }

  async #attempt(end: number): Promise<CallAttempt> {
    const channel = await this.#channels.get();
    if (this.#user && this.#token === undefined) {
      this.#token = await this.#authenticate(channel, this.#user, left(end));
    }
    return { channel, token: this.#token };
  }

  readonly #authenticate = singleFlight(async (channel: EtcdChannel, user: User, ms: number) => {
    const { path, request } = AUTHENTICATE;
    try {
      const metadata = metadataOf(undefined);
      return read(AUTHENTICATE, await channel.call({ path, metadata }, encode(request, user), ms));
    } catch (error) {
      if (error instanceof EtcdRefusal && /authentication is not enabled/.test(error.message))
        return '';
      if (isLeaderless(error)) channel.retire('it has no leader');
      // The request itself has not left.
      throw error instanceof NoAnswer ? new NoAnswer(false, error) : error;
    }
  });
}

/** It was not carried out, and another server may be able to. */
function isElsewhere(error: unknown): boolean {
  return isLeaderless(error) || (error instanceof NoAnswer && !error.sent);
}

function metadataOf(token: string | undefined): Record<string, string> {
  return token ? { hasleader: 'true', token } : { hasleader: 'true' };
}

function left(end: number): number {
  return Math.max(1, Math.ceil(end - performance.now()));
}

/** No connection by then: nothing was sent. */
function before<T>(end: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const why = `timeout: no connection within ${DEADLINE_MS} ms`;
    const late = (): void => reject(new NoAnswer(false, why));
    const timer = setTimeout(() => afterInput(late), left(end));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The request was carried out, but the reply is unreadable. */
function read<Q, A>(method: RpcMethod<Q, A>, answer: Buffer): A {
  try {
    return method.read(answer);
  } catch (error) {
    throw new NoAnswer(true, error);
  }
}
