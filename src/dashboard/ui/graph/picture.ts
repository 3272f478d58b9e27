/** Where in a picture the waiting ones stand, and which ways the arrows take. */
import type { QueueRow, QueueWait } from '../../wire.ts';
import { componentsOf, markOf, type Party, partiesOf, type WaitMark } from './waits.ts';

/** Most boxes in the picture: more would be illegible. */
const MAX_NODES = 40;

/** A place in the grid: the column, and the line. */
export interface Spot {
  readonly x: number;
  readonly y: number;
}

export interface Node extends Spot {
  readonly id: string;
  readonly place: string;
  readonly labels: string;
  readonly mark: WaitMark;
}

export interface Edge {
  readonly from: Node;
  readonly to: Node;
  readonly names: readonly string[];
  /** Others wait for the one that waits here: it may delay them. */
  readonly may: boolean;
  readonly mark: WaitMark;
  /** The free places that it passes. */
  readonly via: readonly Spot[];
}

export interface Picture {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly hidden: number;
  readonly deadlocks: number;
  /** How many cycles may be deadlocks. */
  readonly cycles: number;
  /** How many columns and lines it takes. */
  readonly columns: number;
  readonly lines: number;
}

export function pictureOf(rows: Iterable<QueueRow>, waits: readonly QueueWait[]): Picture {
  const all = partiesOf(rows, waits);
  const components = componentsOf(all);
  const marks = components.map((ids) => markOf(ids, all));
  const component = new Map(components.flatMap((ids, n) => ids.map((id) => [id, n] as const)));
  const markedAs = (id: string): WaitMark => marks[component.get(id) as number];
  const weight = (each: Party): number =>
    (markedAs(each.id) ? 1_000 : 0) + each.to.size + (each.awaited ? 1 : 0);
  const kept = [...all.values()].sort((a, b) => weight(b) - weight(a)).slice(0, MAX_NODES);
  const { spots, lines, viaOf } = arrange(kept, component);
  const nodes = new Map<string, Node>();
  for (const { id, place, labels } of kept) {
    const spot = spots.get(id) as Spot;
    nodes.set(id, { id, place, labels: [...labels].join(', '), mark: markedAs(id), ...spot });
  }
  const edges = kept.flatMap(({ id, to, awaited, wait }) =>
    [...to].flatMap(([target, names]): Edge[] => {
      const [from, end] = [nodes.get(id), nodes.get(target)];
      if (!from || !end) return [];
      const mark = component.get(id) === component.get(target) ? from.mark : undefined;
      const may = awaited && !wait;
      return [{ from, to: end, names: [...names], may, mark, via: viaOf(id, target) }];
    }),
  );
  const count = (mark: WaitMark): number => marks.filter((each) => each === mark).length;
  return {
    ...{ nodes: [...nodes.values()], edges, hidden: all.size - kept.length },
    ...{ deadlocks: count('deadlock'), cycles: count('cycle') },
    ...{ columns: 1 + Math.max(0, ...[...spots.values()].map(({ x }) => x)), lines },
  };
}

/**
 * Columns by how far a wait can lead, the last holders at the right. An arrow over several columns
 * has a free place in each, which it shares with the others to the same end.
 */
function arrange(kept: readonly Party[], component: ReadonlyMap<string, number>) {
  const depth = depthsOf(kept);
  const depthAt = (id: string): number => depth.get(id) ?? 0;
  const deepest = Math.max(0, ...depth.values());
  const spots = new Map<string, Spot>();
  const laneOf = (target: string, d: number): string => `lane ${d} ${target}`;
  let lines = 1;
  for (let d = 0; d <= deepest; d += 1) {
    const near = new Map<string, number>();
    for (const { id, to } of kept) {
      if (depthAt(id) === d) {
        const ys = [...to.keys()].flatMap((target) => spots.get(target)?.y ?? []);
        const sum = ys.reduce((total, y) => total + y, 0);
        near.set(id, ys.length > 0 ? sum / ys.length : (component.get(id) ?? 0));
      }
      for (const target of depthAt(id) > d ? to.keys() : []) {
        if (!depth.has(target) || depthAt(target) >= d) continue;
        const next = spots.get(laneOf(target, d - 1)) ?? spots.get(target);
        near.set(laneOf(target, d), next?.y ?? 0);
      }
    }
    const column = [...near].sort(([, a], [, b]) => a - b);
    column.forEach(([id], y) => spots.set(id, { x: deepest - d, y }));
    lines = Math.max(lines, column.length);
  }
  const viaOf = (from: string, to: string): readonly Spot[] => {
    const between = Math.max(0, depthAt(from) - depthAt(to) - 1);
    return Array.from({ length: between }, (_, n) => laneOf(to, depthAt(from) - 1 - n)).flatMap(
      (lane) => spots.get(lane) ?? [],
    );
  };
  return { spots, lines, viaOf };
}

/** How many steps a wait can lead on, but not around a cycle. */
function depthsOf(kept: readonly Party[]): ReadonlyMap<string, number> {
  const depth = new Map<string, number>();
  const byId = new Map(kept.map((each) => [each.id, each]));
  const visiting = new Set<string>();
  const depthOf = (each: Party): number => {
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
  return depth;
}
