/** The clock of a service, in epoch ms, by the head of its reply. */
export function timeIn(headers: Readonly<Record<string, unknown>> = {}): {
  readonly nowMs?: number;
} {
  const nowMs = Date.parse(String(headers.date));
  return Number.isNaN(nowMs) ? {} : { nowMs };
}
