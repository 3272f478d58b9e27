/** The wait-for graph: processes, and arrows from those that wait to those that hold. */
import { useMemo } from 'preact/hooks';
import type { Row } from '../../wire.ts';
import { type Edge, type Node, pictureOf } from './waits.ts';

const [WIDTH, HEIGHT, ACROSS, DOWN, MARGIN] = [168, 48, 300, 76, 28];

interface GraphProps {
  readonly rows: readonly Row[];
  readonly choose: (name: string) => void;
}

export function Graph({ rows, choose }: GraphProps) {
  const { nodes, edges, hidden, cycles, columns, lines } = useMemo(() => pictureOf(rows), [rows]);
  if (nodes.length === 0) return <p class="empty">No process waits for another.</p>;
  const width = 2 * MARGIN + (columns - 1) * ACROSS + WIDTH;
  const height = 2 * MARGIN + (lines - 1) * DOWN + HEIGHT + (cycles > 0 ? DOWN / 2 : 0);
  return (
    <section class="graph scrolls" aria-label="Wait-for graph">
      <p class="hint">
        {cycles > 0 && (
          <strong class="bad">
            {cycles === 1 ? 'A cycle' : `${cycles} cycles`} of waits: it may be a deadlock.{' '}
          </strong>
        )}
        An arrow leads from a process that waits to the one that holds; dashed, where others wait
        for the one that waits, which it may delay.
        {hidden > 0 && ` ${hidden} more processes are not drawn.`}
      </p>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img">
        <title>Which process waits for which</title>
        <defs>
          <Tip id="tip" />
          <Tip id="bad-tip" />
        </defs>
        {edges.map((edge) => (
          <Arrow
            key={`${edge.from.id}\n${edge.to.id}`}
            edge={edge}
            named={edge === firstLike(edges, edge)}
            choose={choose}
          />
        ))}
        {nodes.map((node) => (
          <Box key={node.id} node={node} />
        ))}
      </svg>
    </section>
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

function Box({ node: { x, y, place, labels, inCycle } }: { readonly node: Node }) {
  const [left, top] = [MARGIN + x * ACROSS, MARGIN + y * DOWN];
  return (
    <g class={`box ${inCycle ? 'bad' : ''}`} transform={`translate(${left} ${top})`}>
      <rect width={WIDTH} height={HEIGHT} rx="8" />
      <text x="12" y="20">
        {short(place, 20)}
      </text>
      <text x="12" y="37" class="small">
        {short(labels, 24)}
      </text>
    </g>
  );
}

/** One of the arrows that say the same is enough. */
function firstLike(edges: readonly Edge[], wanted: Edge): Edge | undefined {
  return edges
    .filter(({ to, names }) => to === wanted.to && names.join('\n') === wanted.names.join('\n'))
    .reduce((first, edge) => (edge.from.y < first.from.y ? edge : first));
}

interface ArrowProps {
  readonly edge: Edge;
  readonly named: boolean;
  readonly choose: (name: string) => void;
}

function Arrow({ edge: { from, to, names, may, inCycle }, named, choose }: ArrowProps) {
  const back = to.x <= from.x;
  const y1 = MARGIN + from.y * DOWN + HEIGHT / 2 + (back ? HEIGHT / 4 : 0);
  const y2 = MARGIN + to.y * DOWN + HEIGHT / 2 + (back ? HEIGHT / 4 : 0);
  const x1 = MARGIN + from.x * ACROSS + WIDTH;
  const x2 = MARGIN + to.x * ACROSS + (back ? WIDTH / 2 : 0);
  // An arrow back leaves below and arrives from below, so that it hides no other.
  const low = Math.max(y1, y2) + DOWN / 2 + 12;
  const start = x1 - WIDTH / 2;
  const under = HEIGHT / 4;
  const path = back
    ? `M${start} ${y1 + under}C${start} ${low} ${x2} ${low} ${x2} ${y2 + under}`
    : `M${x1} ${y1}C${x1 + 70} ${y1} ${x2 - 70} ${y2} ${x2} ${y2}`;
  const [first = '', ...others] = names;
  const text = short(first, 16) + (others.length > 0 ? ` +${others.length}` : '');
  // In the gap behind the one that waits, where no box hides it.
  const t = (ACROSS - WIDTH) / 2 / (x2 - x1);
  const middle = back
    ? { x: (start + x2) / 2, y: low - 12 }
    : { x: x1 + t * (x2 - x1), y: y1 + (y2 - y1) * t * t * (3 - 2 * t) };
  return (
    <g class={`arrow ${inCycle ? 'bad' : ''} ${may ? 'may' : ''}`}>
      <path d={path} marker-end={`url(#${inCycle ? 'bad-tip' : 'tip'})`} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the list leads there by keys. */}
      <text x={middle.x} y={middle.y - 5} onClick={() => choose(first)}>
        {named ? text : ''}
      </text>
    </g>
  );
}

function short(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
}
