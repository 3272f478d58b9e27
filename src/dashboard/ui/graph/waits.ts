/**
 * Which process waits for which, and where in a picture.
 *
 * The store knows processes and not their tasks. That a process waits for the holder of a queue is
 * certain; that what it holds itself is held until then is not, so a wait of a process that others
 * wait for only *may* delay them. A circle of such waits may be a deadlock.
 */
import type { Row, Seat } from '../../wire.ts';
import { placeOf } from '../text.ts';

/** Most processes in the picture: more are no picture. */
const MAX_NODES = 40;

/** Most holders of one queue that a wait leads to. */
const MAX_HOLDERS = 8;

export interface Node {
  readonly id: string;
  readonly place: string;
  readonly labels: string;
  readonly inCycle: boolean;
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: Node;
  readonly to: Node;
  readonly names: readonly string[];
  /** Others wait for the one that waits here: it may delay them. */
  readonly may: boolean;
  readonly inCycle: boolean;
}

export interface Picture {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly hidden: number;
  readonly cycles: number;
  /** How many columns and lines it takes. */
  readonly columns: number;
  readonly lines: number;
}

interface Process {
  readonly id: string;
  readonly place: string;
  readonly labels: Set<string>;
  readonly to: Map<string, string[]>;
  awaited: boolean;
}

export function pictureOf(rows: Iterable<Row>): Picture {
  const all = processesOf(rows);
  const components = componentsOf(all);
  const component = new Map(components.flatMap((ids, n) => ids.map((id) => [id, n] as const)));
  const isCycle = (id: string): boolean => {
    const ids = components[component.get(id) as number] as string[];
    return ids.length > 1 || all.get(id)?.to.has(id) === true;
  };
  const weight = (each: Process): number =>
    (isCycle(each.id) ? 1_000 : 0) + each.to.size + (each.awaited ? 1 : 0);
  const kept = [...all.values()].sort((a, b) => weight(b) - weight(a)).slice(0, MAX_NODES);
  const places = arrange(kept, component);
  const nodes = new Map(
    kept.map(({ id, place, labels }) => [
      id,
      {
        ...{ id, place, labels: [...labels].join(', '), inCycle: isCycle(id) },
        ...(places.get(id) as Spot),
      } satisfies Node,
    ]),
  );
  const edges = kept.flatMap(({ id, to, awaited }) =>
    [...to].flatMap(([target, names]): Edge[] => {
      const [from, end] = [nodes.get(id), nodes.get(target)];
      if (!from || !end) return [];
      const inCycle = from.inCycle && component.get(id) === component.get(target);
      return [{ from, to: end, names, may: awaited, inCycle }];
    }),
  );
  const drawn = [...nodes.values()];
  return {
    ...{ nodes: drawn, edges, hidden: all.size - kept.length },
    cycles: components.filter(([first]) => first !== undefined && isCycle(first)).length,
    columns: 1 + Math.max(0, ...drawn.map(({ x }) => x)),
    lines: 1 + Math.max(0, ...drawn.map(({ y }) => y)),
  };
}

/** All that wait or are waited for. */
function processesOf(rows: Iterable<Row>): Map<string, Process> {
  const all = new Map<string, Process>();
  const processOf = (seat: Seat): Process => {
    const id = `${seat.host}\n${seat.pid}`;
    const found =
      all.get(id) ??
      ({ id, place: placeOf(seat), labels: new Set(), to: new Map(), awaited: false } as Process);
    all.set(id, found);
    if (seat.label) found.labels.add(seat.label);
    return found;
  };
  for (const { name, waiting, seats } of rows) {
    if (waiting === 0) continue;
    const holders = seats
      .filter(({ holds }) => holds)
      .slice(0, MAX_HOLDERS)
      .map(processOf);
    for (const seat of seats.filter(({ holds }) => !holds)) {
      const { to } = processOf(seat);
      for (const holder of holders) {
        holder.awaited = true;
        const names = to.get(holder.id) ?? [];
        if (!names.includes(name)) to.set(holder.id, [...names, name]);
      }
    }
  }
  return all;
}

/** Strongly connected components (Tarjan), those that are waited for first. */
function componentsOf(all: ReadonlyMap<string, Process>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()];
  const stack: string[] = [];
  const found: string[][] = [];
  const see = (id: string): void => {
    index.set(id, index.size);
    low.set(id, index.get(id) as number);
    stack.push(id);
    for (const next of all.get(id)?.to.keys() ?? []) {
      if (!index.has(next)) see(next);
      else if (!stack.includes(next)) continue;
      low.set(id, Math.min(low.get(id) as number, low.get(next) as number));
    }
    if (low.get(id) !== index.get(id)) return;
    found.push(stack.splice(stack.indexOf(id)));
  };
  for (const id of all.keys()) if (!index.has(id)) see(id);
  return found;
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Columns by how far a wait can lead, the last holders at the right. */
function arrange(kept: readonly Process[], component: ReadonlyMap<string, number>) {
  const depth = new Map<string, number>();
  const byId = new Map(kept.map((each) => [each.id, each]));
  const visiting = new Set<string>();
  const depthOf = (each: Process): number => {
    const known = depth.get(each.id);
    if (known !== undefined) return known;
    visiting.add(each.id);
    let most = 0;
    for (const id of each.to.keys()) {
      const next = byId.get(id);
      if (next && !visiting.has(id)) most = Math.max(most, 1 + depthOf(next));
    }
    visiting.delete(each.id);
    depth.set(each.id, most);
    return most;
  };
  for (const each of kept) depthOf(each);
  const deepest = Math.max(0, ...depth.values());
  const spots = new Map<string, Spot>();
  for (let d = 0; d <= deepest; d += 1) {
    const column = kept.filter(({ id }) => depth.get(id) === d);
    const near = ({ id, to }: Process): number => {
      const lines = [...to.keys()].flatMap((target) => spots.get(target)?.y ?? []);
      const sum = lines.reduce((total, y) => total + y, 0);
      return lines.length > 0 ? sum / lines.length : (component.get(id) ?? 0);
    };
    column.sort((a, b) => near(a) - near(b));
    column.forEach(({ id }, y) => spots.set(id, { x: deepest - d, y }));
  }
  return spots;
}
