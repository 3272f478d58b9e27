/** The wait-for graph: arrows from those that wait to those that hold. */
import { useMemo } from 'preact/hooks';
import type { QueueRow, QueueWait } from '../../wire.ts';
import { edgesOf, HEIGHT, labelsOf, sizeOf, WIDTH, wayOf } from './geometry.ts';
import { type Node, type Picture, pictureOf } from './picture.ts';

interface GraphProps {
  readonly rows: readonly QueueRow[];
  readonly waits: readonly QueueWait[];
  readonly choose: (name: string) => void;
}

export function Graph({ rows, waits, choose }: GraphProps) {
  const picture = useMemo(() => pictureOf(rows, waits), [rows, waits]);
  const { nodes, edges, hidden } = picture;
  if (nodes.length === 0) return <p class="empty">No process waits for another.</p>;
  const labels = labelsOf(picture);
  const { width, height } = sizeOf(picture, labels);
  return (
    <section class="graph scrolls" aria-label="Wait-for graph" {...{ tabIndex: 0 }}>
      <p class="hint">
        <strong class={picture.deadlocks > 0 ? 'bad' : ''}>{verdictOf(picture)}</strong>
        An arrow leads from a process that waits to the one that holds. It is dashed where others
        wait for the one that waits: it may delay them.
        {hidden > 0 && ` ${hidden} more processes are not drawn.`}
      </p>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img">
        <title>Which process waits for which</title>
        <defs>
          {['tip', 'bad-tip'].map((id) => (
            <marker {...{ id, ...TIP }} key={id} orient="auto">
              <path d="M0 0 8 4 0 8Z" />
            </marker>
          ))}
        </defs>
        {nodes.map((node) => (
          <Box key={node.id} node={node} />
        ))}
        {edges.map((edge) => (
          <path
            key={`${edge.from.id}\n${edge.to.id}`}
            class={`arrow ${edge.mark ?? ''} ${edge.may ? 'may' : ''}`}
            d={wayOf(edge).path}
            marker-end={`url(#${edge.mark === 'deadlock' ? 'bad-tip' : 'tip'})`}
          />
        ))}
        {labels.map(({ edge: { from, to, names }, x, y }) => (
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

function verdictOf({ deadlocks, cycles }: Picture): string {
  const sure = deadlocks === 1 ? 'A deadlock' : `${deadlocks} deadlocks`;
  const perhaps = cycles === 1 ? 'A cycle of waits: it' : `${cycles} cycles of waits: each`;
  const known = deadlocks > 0 ? `${sure}: the tasks that wait have confirmed it. ` : '';
  return cycles > 0 ? `${known}${perhaps} may be a deadlock. ` : known;
}

/** The point of an arrow. */
const TIP = { viewBox: '0 0 8 8', refX: '7', refY: '4', markerWidth: '7', markerHeight: '7' };

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

function short(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
}
