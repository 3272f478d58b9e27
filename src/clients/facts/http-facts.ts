/** What a service over HTTP says of itself: a text, and its clock in the head of the reply. */
import type { HttpReply } from '../http/client.ts';
import { DATE_STEP_MS, timeIn } from '../http/date.ts';
import { type ClockOffset, clockOffset } from './server-facts.ts';

export interface TimedReply {
  readonly reply: HttpReply;
  readonly clock: ClockOffset | undefined;
}

export async function askTimed(ask: () => Promise<HttpReply>): Promise<TimedReply> {
  let reply!: HttpReply;
  const clock = await clockOffset(async () => {
    reply = await ask();
    return timeIn(reply.headers).nowMs;
  }, DATE_STEP_MS);
  return { reply, clock };
}
