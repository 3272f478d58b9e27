/** The step of a service's clock where the `Date` of its replies shows it, in ms. */
export const DATE_STEP_MS = 1000;

/** The clock of a service, in epoch ms, by the head of its reply. */
export function timeIn(headers: Readonly<Record<string, unknown>> = {}): {
  readonly nowMs?: number;
} {
  const nowMs = Date.parse(String(headers.date));
  return Number.isNaN(nowMs) ? {} : { nowMs };
}
