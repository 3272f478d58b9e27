/** How long something may take to come about, in ms: only what never comes takes longer. */
const PATIENCE_MS = 25_000;

/** Waits until `come` answers true; what it throws counts as false. */
export async function until(what: string, come: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let trouble: unknown;
  for (;;) {
    try {
      if (await come()) return;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (performance.now() > deadline) throw new Error(`never ${what}`, { cause: trouble });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
