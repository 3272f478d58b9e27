/** What a service over HTTP says of itself: a text, and its clock in the head of the reply. */
import type { HttpReply } from '../http/client.ts';
import { DATE_STEP_MS, timeIn } from '../http/date.ts';
import { type ClockOffset, clockOffset, type ServerFacts, versionOr } from './server-facts.ts';

/** @param versionIn throws for a reply that does not tell it. */
export async function httpFacts(
  server: string,
  ask: () => Promise<HttpReply>,
  versionIn: (reply: HttpReply) => string,
): Promise<ServerFacts> {
  const { reply, clock } = await askTimed(ask);
  return { version: await versionOr(server, () => versionIn(reply)), clock };
}

export async function askTimed(
  ask: () => Promise<HttpReply>,
): Promise<{ readonly reply: HttpReply; readonly clock: ClockOffset | undefined }> {
  let reply!: HttpReply;
  const clock = await clockOffset(async () => {
    reply = await ask();
    return timeIn(reply.headers).nowMs;
  }, DATE_STEP_MS);
  return { reply, clock };
}
