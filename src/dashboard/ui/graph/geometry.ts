/** Where boxes, arrows and labels are in the picture, in pixels. */
import type { Edge, Picture, Spot } from './picture.ts';

export const WIDTH = 168;
export const HEIGHT = 48;
const [ACROSS, DOWN, MARGIN] = [310, 84, 28];

/** How far an arrow back hangs below the lower of its boxes. */
const SAG = 28;

/** A label is no larger: its width is the room between two columns. */
const [LABEL_HEIGHT, LABEL_WIDTH] = [15, ACROSS - WIDTH];

/** How far letters hang below the line of their label. */
const BELOW = 3;

/** How far a label is moved at a time. */
const STEP = 5;

interface Edges {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly middle: number;
  readonly bottom: number;
}

/** A box in the picture. */
export function edgesOf({ x, y }: Spot): Edges {
  const [left, top] = [MARGIN + x * ACROSS, MARGIN + y * DOWN];
  return { left, top, right: left + WIDTH, middle: top + HEIGHT / 2, bottom: top + HEIGHT };
}

/** The path of an arrow, and its middle, at which its label stands best. */
export function wayOf({ from, to, via }: Edge): Spot & { readonly path: string } {
  const [a, b] = [edgesOf(from), edgesOf(to)];
  if (to.x <= from.x) {
    // An arrow back, or one to the box itself, leaves below and arrives from below.
    const apart = from === to ? WIDTH / 4 : 0;
    const [start, end] = [a.left + WIDTH / 2 + apart, b.left + WIDTH / 2 - apart];
    const low = Math.max(a.bottom, b.bottom) + SAG;
    const path = `M${start} ${a.bottom}C${start} ${low} ${end} ${low} ${end} ${b.bottom}`;
    return { path, x: (start + end) / 2, y: low - 3 };
  }
  let path = `M${a.right} ${a.middle}`;
  let [x, y] = [a.right, a.middle];
  for (const spot of [...via, to]) {
    const { left, right, middle } = edgesOf(spot);
    const bend = (left - x) / 2;
    path += `C${x + bend} ${y} ${left - bend} ${middle} ${left} ${middle}`;
    if (spot !== to) path += `H${right}`;
    [x, y] = [right, middle];
  }
  const free = via[0] && edgesOf(via[0]);
  if (free) return { path, x: free.left + WIDTH / 2, y: free.middle + 4 };
  return { path, x: (a.right + b.left) / 2, y: (a.middle + b.middle) / 2 + 4 };
}

/** A label: its middle, and the line that it stands on. */
export interface Label extends Spot {
  readonly edge: Edge;
}

/**
 * Each label as near to the middle of its arrow as it can be without covering a box or a label,
 * above or below: far enough down there is room.
 */
export function labelsOf({ nodes, edges }: Pick<Picture, 'nodes' | 'edges'>): readonly Label[] {
  const boxes = nodes.map(edgesOf);
  const placed: Label[] = [];
  for (const edge of named(edges)) {
    const { x, y: middle } = wayOf(edge);
    const isFree = (y: number): boolean =>
      y >= LABEL_HEIGHT &&
      !boxes.some((box) => isOn({ x, y }, box)) &&
      !placed.some((other) => isUpon({ x, y }, other));
    let y = middle;
    for (let step = 1; !isFree(y); step += 1) {
      y = middle + Math.ceil(step / 2) * STEP * (step % 2 === 1 ? 1 : -1);
    }
    placed.push({ edge, x, y });
  }
  return placed;
}

export function sizeOf(
  { columns, lines }: Picture,
  labels: readonly Label[],
): { readonly width: number; readonly height: number } {
  const lowest = labels.reduce((most, { y }) => Math.max(most, y), 0);
  return {
    width: 2 * MARGIN + (columns - 1) * ACROSS + WIDTH,
    height: Math.max(2 * MARGIN + (lines - 1) * DOWN + HEIGHT + SAG, lowest + MARGIN / 2),
  };
}

export function isUpon(a: Spot, b: Spot): boolean {
  return Math.abs(a.x - b.x) < LABEL_WIDTH && Math.abs(a.y - b.y) < LABEL_HEIGHT;
}

export function isOn({ x, y }: Spot, box: Edges): boolean {
  const half = LABEL_WIDTH / 2;
  const beside = x + half <= box.left || x - half >= box.right;
  return !beside && y + BELOW > box.top && y + BELOW - LABEL_HEIGHT < box.bottom;
}

/** Where arrows say the same, the uppermost has the label. */
function named(edges: readonly Edge[]): Iterable<Edge> {
  const first = new Map<string, Edge>();
  for (const edge of edges) {
    const says = edge.names.join('\n');
    const known = first.get(says);
    if (!known || edge.from.y < known.from.y) first.set(says, edge);
  }
  return first.values();
}
