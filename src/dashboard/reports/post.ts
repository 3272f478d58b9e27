/** One request to a dashboard, which neither keeps the process alive nor follows to elsewhere. */
import { type ClientRequest, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

export interface Address {
  readonly url: URL;
  readonly token: string;
}

/** Resolves with the status. */
export function post({ url, token }: Address, body: string, signal: AbortSignal): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? overHttps : overHttp;
    const sent: ClientRequest = open(url, { method: 'POST', headers, signal });
    sent.on('error', reject);
    sent.once('socket', (socket) => socket.unref());
    sent.once('response', (response) => {
      response.on('error', () => {}).resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end(body);
  });
}
