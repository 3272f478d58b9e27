/** What may notice a fault, from the cheapest to the dearest. */
export const KINDS = ['units', 'conformance', 'simulation', 'processes'] as const;
export type Kind = (typeof KINDS)[number];

/** What failed first: a test, a whole file that has none, or a seed of the simulation. */
export interface Notice {
  readonly file?: string;
  readonly test?: string;
  readonly seed?: number;
  /** It failed because it hung. */
  readonly hung?: true;
}

/** The core is tried on stores that cost no real time. */
const MEMORY = /^test\/conformance\/(memory|chaos)/;

/** The folder of the unit tests of a source. */
export function partOf(source: string): string {
  return /^src\/(?:stores\/)?(sqlite|fence)\//.exec(source)?.[1] ?? 'unit';
}

/** What takes another course in every run does not notice the same fault each time. */
const BY_CHANCE = /^test\/(sqlite\/differential|conformance\/sqlite-two)/;

/** What kind of run a test file is for a fault in that source; undefined if it cannot notice it. */
export function kindOf(file: string, source: string): Kind | undefined {
  const part = partOf(source);
  if (!file.endsWith('.test.ts') || BY_CHANCE.test(file)) return undefined;
  if (/^test\/(processes|sqlite\/processes)/.test(file)) return 'processes';
  if (file.startsWith(`test/${part}/`)) return 'units';
  const stores = part === 'sqlite' ? /^test\/conformance\/sqlite/ : MEMORY;
  return part !== 'fence' && stores.test(file) ? 'conformance' : undefined;
}

/** The simulation knows neither files nor fences. */
export function isSimulated(source: string): boolean {
  return !/^src\/(stores\/sqlite|fence|signals)/.test(source);
}
