/**
 * One request to a dashboard, which does not follow to elsewhere, and keeps the process alive only
 * while it connects: for a second, or as long as the resolver of names takes.
 */
import { type ClientRequest, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Socket } from 'node:net';
import { type Clock, OneTimer } from '../../base/clock.ts';
import { afterInput } from '../../base/event-loop.ts';

/** How long connecting may take, in ms. */
const CONNECT_MS = 1_000;

export interface Address {
  readonly url: URL;
  readonly token: string;
}

/** Resolves with the status. */
export function post(
  { url, token }: Address,
  body: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? overHttps : overHttp;
    const sent: ClientRequest = open(url, { method: 'POST', headers, signal });
    sent.on('error', reject);
    sent.once('socket', (socket) => {
      socket.unref();
      if (socket.connecting) limitConnecting(socket, clock);
    });
    sent.once('response', (response) => {
      response.on('error', () => {}).resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end(body);
  });
}

/** A connection that is not there yet keeps the process alive, whatever its socket says. */
function limitConnecting(socket: Socket, clock: Clock): void {
  const limit = new OneTimer(clock);
  const judge = (): void => {
    if (socket.connecting) socket.destroy(new Error('it takes too long to connect'));
  };
  limit.set(() => afterInput(judge, clock), CONNECT_MS);
  limit.unref();
  socket.once('close', () => limit.clear());
  socket.once('connect', () => {
    limit.clear();
    // Of several addresses each has another handle.
    socket.unref();
  });
}
