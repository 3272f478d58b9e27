/** What a service over HTTP says of itself: a text, and its clock in the head of the reply. */
import type { HttpReply } from '../http/client.ts';
import { timeIn } from '../http/date.ts';
import { clockByDate, type ServerFacts, versionOr } from './server-facts.ts';

/** @param versionIn throws for a reply that does not tell it. */
export async function httpFacts(
  server: string,
  ask: () => Promise<HttpReply>,
  versionIn: (reply: HttpReply) => string,
): Promise<ServerFacts> {
  let reply!: HttpReply;
  const clock = await clockByDate(async () => {
    reply = await ask();
    return timeIn(reply.headers);
  });
  return { version: await versionOr(server, () => versionIn(reply)), clock };
}
