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

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A box in the picture. */
export function edgesOf({ x, y }: Spot): Edges {
  const [left, top] = [MARGIN + x * ACROSS, MARGIN + y * DOWN];
  return { left, top, right: left + WIDTH, middle: top + HEIGHT / 2, bottom: top + HEIGHT };
}

/** An arrow back, or one to the box itself, leaves below and arrives from below. */
function turnOf({ from, to }: Edge) {
  const [a, b] = [edgesOf(from), edgesOf(to)];
  const apart = from === to ? WIDTH / 4 : 0;
  return {
    start: { x: a.left + WIDTH / 2 + apart, y: a.bottom },
    end: { x: b.left + WIDTH / 2 - apart, y: b.bottom },
    low: Math.max(a.bottom, b.bottom) + SAG,
  };
}

function isBack({ from, to }: Edge): boolean {
  return to.x <= from.x;
}

export function pathOf(edge: Edge): string {
  if (isBack(edge)) {
    const { start, end, low } = turnOf(edge);
    return `M${start.x} ${start.y}C${start.x} ${low} ${end.x} ${low} ${end.x} ${end.y}`;
  }
  const { right, middle } = edgesOf(edge.from);
  let path = `M${right} ${middle}`;
  let [x, y] = [right, middle];
  for (const spot of [...edge.via, edge.to]) {
    const { left, right: beyond, middle: level } = edgesOf(spot);
    const bend = (left - x) / 2;
    path += `C${x + bend} ${y} ${left - bend} ${level} ${left} ${level}`;
    if (spot !== edge.to) path += `H${beyond}`;
    [x, y] = [beyond, level];
  }
  return path;
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
  for (const edge of edges.filter(({ named }) => named)) {
    const { x, y: middle } = middleOf(edge);
    const isFree = (y: number): boolean =>
      y >= LABEL_HEIGHT &&
      !boxes.some((box) => isOn({ x, y }, box)) &&
      !placed.some((other) => isUpon({ x, y }, other));
    let [y, step] = [middle, 0];
    while (!isFree(y)) {
      step += 1;
      y = middle + Math.ceil(step / 2) * STEP * (step % 2 === 1 ? 1 : -1);
    }
    placed.push({ edge, x, y });
  }
  return placed;
}

/** How large the picture is. */
export function sizeOf({ columns, lines }: Picture, labels: readonly Label[]): Size {
  const lowest = labels.reduce((most, { y }) => Math.max(most, y), 0);
  return {
    width: 2 * MARGIN + (columns - 1) * ACROSS + WIDTH,
    height: Math.max(2 * MARGIN + (lines - 1) * DOWN + HEIGHT + SAG, lowest + MARGIN / 2),
  };
}

export function isUpon(a: Spot, b: Spot): boolean {
  return Math.abs(a.x - b.x) < LABEL_WIDTH && Math.abs(a.y - b.y) < LABEL_HEIGHT;
}

/** Letters hang a little below their line. */
export function isOn({ x, y }: Spot, box: Edges): boolean {
  const half = LABEL_WIDTH / 2;
  const beside = x + half <= box.left || x - half >= box.right;
  return !beside && y + BELOW > box.top && y + BELOW - LABEL_HEIGHT < box.bottom;
}

function middleOf(edge: Edge): Spot {
  if (isBack(edge)) {
    const { start, end, low } = turnOf(edge);
    return { x: (start.x + end.x) / 2, y: low - 3 };
  }
  const { right, middle } = edgesOf(edge.from);
  const [free] = edge.via;
  if (free) return { x: edgesOf(free).left + WIDTH / 2, y: edgesOf(free).middle + 4 };
  const next = edgesOf(edge.to);
  return { x: (right + next.left) / 2, y: (middle + next.middle) / 2 + 4 };
}
