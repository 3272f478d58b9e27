/** How far two such times may differ, in ms: `Date` counts seconds, on several machines. */
export const DATE_SLACK_MS = 2000;

/** The clock of a service, in epoch ms, by the head of its reply. */
export function timeIn(headers: Readonly<Record<string, unknown>> = {}): {
  readonly nowMs?: number;
} {
  const nowMs = Date.parse(String(headers.date));
  return Number.isNaN(nowMs) ? {} : { nowMs };
}
