/** The wait-for graph: arrows from those that wait to those that hold. */
import { useMemo } from 'preact/hooks';
import type { Row, Wait } from '../../wire.ts';
import { type Edge, type Node, type Picture, pictureOf, type Spot } from './picture.ts';

const [WIDTH, HEIGHT, ACROSS, DOWN, MARGIN] = [168, 48, 310, 84, 28];

/** How far an arrow back hangs below the lower of its boxes. */
const SAG = 28;

/** The height of a label, and more than its width. */
const [LABEL_HEIGHT, LABEL_WIDTH] = [15, 150];

interface GraphProps {
  readonly rows: readonly Row[];
  readonly waits: readonly Wait[];
  readonly choose: (name: string) => void;
}

export function Graph({ rows, waits, choose }: GraphProps) {
  const picture = useMemo(() => pictureOf(rows, waits), [rows, waits]);
  const { nodes, edges, hidden, columns, lines } = picture;
  if (nodes.length === 0) return <p class="empty">No process waits for another.</p>;
  const width = 2 * MARGIN + (columns - 1) * ACROSS + WIDTH;
  const height = 2 * MARGIN + (lines - 1) * DOWN + HEIGHT + SAG;
  return (
    <section class="graph scrolls" aria-label="Wait-for graph">
      <p class="hint">
        <Verdict picture={picture} />
        An arrow leads from a process that waits to the one that holds. It is dashed where others
        wait for the one that waits: it may delay them.
        {hidden > 0 && ` ${hidden} more processes are not drawn.`}
      </p>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img">
        <title>Which process waits for which</title>
        <defs>
          <Tip id="tip" />
          <Tip id="bad-tip" />
        </defs>
        {nodes.map((node) => (
          <Box key={node.id} node={node} />
        ))}
        {edges.map((edge) => (
          <Arrow key={`${edge.from.id}\n${edge.to.id}`} edge={edge} />
        ))}
        {labelsOf(edges).map(({ edge: { from, to, names }, x, y }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list leads there by keys.
          <text
            key={`${from.id}\n${to.id}`}
            class="label"
            {...{ x, y }}
            onClick={() => choose(names[0] ?? '')}
          >
            {short(names[0] ?? '', 16)}
            {names.length > 1 && ` +${names.length - 1}`}
          </text>
        ))}
      </svg>
    </section>
  );
}

function Verdict({ picture: { deadlocks, cycles } }: { readonly picture: Picture }) {
  return (
    <>
      {deadlocks > 0 && (
        <strong class="bad">
          {deadlocks === 1 ? 'A deadlock' : `${deadlocks} deadlocks`}: the tasks that wait have
          confirmed it.{' '}
        </strong>
      )}
      {cycles > 0 && (
        <strong class="bad">
          {cycles === 1
            ? 'A cycle of waits: it may be a deadlock. '
            : `${cycles} cycles of waits: each may be a deadlock. `}
        </strong>
      )}
    </>
  );
}

function Tip({ id }: { readonly id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="7"
      markerHeight="7"
      orient="auto"
    >
      <path d="M0 0 8 4 0 8Z" />
    </marker>
  );
}

function Box({ node }: { readonly node: Node }) {
  const { left, top } = edgesOf(node);
  return (
    <g class={`box ${node.mark ?? ''}`} transform={`translate(${left} ${top})`}>
      <rect width={WIDTH} height={HEIGHT} rx="8" />
      <text x="12" y="20">
        {short(node.labels || node.place, 20)}
      </text>
      <text x="12" y="37" class="small">
        {node.labels ? short(node.place, 24) : ''}
      </text>
    </g>
  );
}

function Arrow({ edge }: { readonly edge: Edge }) {
  const { mark, may } = edge;
  return (
    <g class={`arrow ${mark ? 'bad' : ''} ${may ? 'may' : ''}`}>
      <path d={pathOf(edge)} marker-end={`url(#${mark ? 'bad-tip' : 'tip'})`} />
    </g>
  );
}

function edgesOf({ x, y }: Spot) {
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

function pathOf(edge: Edge): string {
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

/** Where no box hides it, and none upon another. */
function labelsOf(edges: readonly Edge[]) {
  const placed: { readonly edge: Edge; readonly x: number; readonly y: number }[] = [];
  for (const edge of edges.filter(({ named }) => named)) {
    let { x, y } = middleOf(edge);
    const hides = (other: Spot): boolean =>
      Math.abs(other.x - x) < LABEL_WIDTH && Math.abs(other.y - y) < LABEL_HEIGHT;
    while (placed.some(hides)) y += LABEL_HEIGHT;
    placed.push({ edge, x, y });
  }
  return placed;
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

function short(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
}
