/**
 * Draws the timelines in docs/images. Time runs downwards: each row is a moment with its caption at
 * the right, each lane a process, a store or data, and spans say what is true between two rows. So
 * no text can meet another, and a phone shows it in the size of its own text.
 */

/** What a span looks like. */
type Kind = 'held' | 'waits' | 'stopped' | 'quiet' | 'data';

interface Span {
  readonly lane: string;
  /** Rows, from 0. */
  readonly from: number;
  readonly to: number;
  readonly kind: Kind;
  /** Short: a lane is narrow. Below the arrow of the first row. */
  readonly text: string;
}

interface Row {
  readonly caption: string;
  /** Before the caption, in bold. */
  readonly at?: string;
  /** From lane to lane. */
  readonly arrow?: readonly [from: string, to: string];
  /** The arrow does not arrive. */
  readonly refused?: true;
}

export interface Picture {
  readonly title: string;
  readonly lanes: readonly string[];
  readonly rows: readonly Row[];
  readonly spans: readonly Span[];
}

const WIDTH = 470;
const [LANES_WIDTH, GAP] = [208, 12];
const [TOP, ROW, LINE] = [40, 66, 19];
const CAPTION_LETTERS = 28;

const STYLE = `
  .card { fill: #ffffff; stroke: #d0d7de; }
  text { font: 15px system-ui, sans-serif; fill: #1f2328; }
  .strong { font-weight: 600; }
  .row, .lane { stroke: #d0d7de; stroke-dasharray: 2 4; }
  .span { stroke-width: 1.5; }
  .held { fill: #b6d7ff; stroke: #0969da; }
  .waits { fill: none; stroke: #6e7781; stroke-dasharray: 4 3; }
  .stopped { fill: #ffe3b3; stroke: #9a6700; }
  .quiet { fill: #ffd3d0; stroke: #cf222e; }
  .data { fill: #bdebc8; stroke: #1a7f37; }
  .arrow { stroke: #1f2328; stroke-width: 2; }
  .tip { fill: #1f2328; }
  .refused { stroke: #cf222e; fill: none; stroke-width: 2.5; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #30363d; }
    text { fill: #e6edf3; }
    .row, .lane { stroke: #30363d; }
    .held { fill: #143d70; stroke: #4493f8; }
    .waits { stroke: #9198a1; }
    .stopped { fill: #553b06; stroke: #d29922; }
    .quiet { fill: #5f1d1f; stroke: #f85149; }
    .data { fill: #12452a; stroke: #3fb950; }
    .arrow { stroke: #e6edf3; }
    .tip { fill: #e6edf3; }
    .refused { stroke: #f85149; }
  }
`;

/** The picture as SVG. */
export function svg({ title, lanes, rows, spans }: Picture): string {
  const height = TOP + rows.length * ROW + 8;
  const width = LANES_WIDTH / lanes.length;
  const x = (lane: string): number => Math.round(8 + width * (lanes.indexOf(lane) + 0.5));
  const y = (row: number): number => TOP + row * ROW;
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    ...lanes.map((lane) => line('lane', x(lane), TOP, x(lane), height - 8)),
    ...lanes.map((lane) => text('strong', x(lane), 25, lane, true)),
    ...rows.map((_, row) => line('row', 8, y(row), WIDTH - 8, y(row))),
    ...spans.flatMap((span) => spanOf(span, x(span.lane), y, Math.min(width - 6, 62))),
    ...rows.flatMap((row, n) => [...captionOf(row, y(n)), ...arrowOf(row, x, y(n))]),
    '</svg>',
    '',
  ].join('\n');
}

function spanOf(span: Span, x: number, y: (row: number) => number, width: number): string[] {
  const [top, bottom] = [y(span.from), y(span.to)];
  const box = `x="${x - width / 2}" y="${top}" width="${width}" height="${bottom - top}"`;
  return [
    `<rect class="span ${span.kind}" ${box} rx="5"/>`,
    text('', x, top + 44, span.text, true),
  ];
}

function captionOf({ at, caption }: Row, y: number): string[] {
  const left = 8 + LANES_WIDTH + GAP;
  const lines = [''];
  for (const word of `${at ? `${at}: ` : ''}${caption}`.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > CAPTION_LETTERS) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((words, n) => {
    const shown = n === 0 && at ? words.replace(at, `<tspan class="strong">${at}</tspan>`) : words;
    return text('', left, y + 18 + n * LINE, shown);
  });
}

function arrowOf({ arrow, refused }: Row, x: (lane: string) => number, row: number): string[] {
  if (!arrow) return [];
  const [from, to] = arrow.map(x) as [number, number];
  const way = Math.sign(to - from);
  const y = row + 12;
  if (refused) {
    const end = to - way * 40;
    const cross = `M${end - 6} ${y - 6}l12 12m0 -12l-12 12`;
    return [line('arrow', from, y, end, y), `<path class="refused" d="${cross}"/>`];
  }
  const tip = `<path class="tip" d="M${to} ${y}l${-way * 10} -6v12z"/>`;
  return [line('arrow', from, y, to - way * 8, y), tip];
}

function line(kind: string, x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

function text(kind: string, x: number, y: number, shown: string, middle = false): string {
  const place = `x="${x}" y="${y}"${middle ? ' text-anchor="middle"' : ''}`;
  return `<text${kind ? ` class="${kind}"` : ''} ${place}>${shown}</text>`;
}

/** By the names of their files. */
export const PICTURES: Readonly<Record<string, Picture>> = {
  lease: {
    title: 'A lease with a TTL of 9 s: heartbeats, the network is cut, the deadline, the takeover',
    lanes: ['holder', 'store', 'waiter'],
    rows: [
      { at: '0 s', caption: 'the claim is granted for 9\u00a0s', arrow: ['store', 'holder'] },
      { at: '3 s', caption: 'a heartbeat gives it 9\u00a0s again', arrow: ['holder', 'store'] },
      {
        ...{ at: '6 s', caption: 'the network is cut; no reply, so it is unconfirmed' },
        ...{ arrow: ['holder', 'store'], refused: true },
      },
      { at: '11.9 s', caption: 'the deadline: the lease is lost; its signal aborts' },
      {
        at: '12 s',
        caption: 'the claim ends; the waiter has the lock',
        arrow: ['store', 'waiter'],
      },
    ],
    spans: [
      { lane: 'holder', from: 0, to: 2, kind: 'held', text: 'held' },
      { lane: 'holder', from: 2, to: 3, kind: 'stopped', text: 'doubt' },
      { lane: 'store', from: 0, to: 4, kind: 'data', text: 'claim' },
      { lane: 'store', from: 4, to: 5, kind: 'data', text: 'next' },
      { lane: 'waiter', from: 0, to: 4, kind: 'waits', text: 'waits' },
      { lane: 'waiter', from: 4, to: 5, kind: 'held', text: 'held' },
    ],
  },
  fence: {
    title: 'A holder that was paused writes too late, and the fence in the data refuses it',
    lanes: ['A', 'B', 'data'],
    rows: [
      { caption: 'A has the lock, with token 33, and enters the fence', arrow: ['A', 'data'] },
      { caption: 'A is paused: no heartbeats' },
      { caption: 'its TTL is over: B has the lock, with token 34' },
      { caption: 'B enters the fence, which keeps 34, and writes', arrow: ['B', 'data'] },
      {
        ...{ caption: 'A goes on, and would write with 33: StaleTokenError' },
        ...{ arrow: ['A', 'data'], refused: true },
      },
    ],
    spans: [
      { lane: 'A', from: 0, to: 1, kind: 'held', text: '33' },
      { lane: 'A', from: 1, to: 4, kind: 'stopped', text: 'paused' },
      { lane: 'B', from: 2, to: 5, kind: 'held', text: '34' },
      { lane: 'data', from: 0, to: 3, kind: 'data', text: '33' },
      { lane: 'data', from: 3, to: 5, kind: 'data', text: '34' },
    ],
  },
  'hand-off': {
    title: 'A lock passes from process to process in the order of the queue',
    lanes: ['A', 'store', 'B', 'C'],
    rows: [
      { caption: 'A holds the lock; B and C wait in one queue' },
      { caption: 'A releases the lock', arrow: ['A', 'store'] },
      { caption: 'B is next, and the store wakes it', arrow: ['store', 'B'] },
      { caption: 'B releases the lock', arrow: ['B', 'store'] },
      { caption: 'C is next', arrow: ['store', 'C'] },
    ],
    spans: [
      { lane: 'A', from: 0, to: 1, kind: 'held', text: 'holds' },
      { lane: 'store', from: 0, to: 1, kind: 'data', text: 'A B C' },
      { lane: 'store', from: 1, to: 3, kind: 'data', text: 'B C' },
      { lane: 'store', from: 3, to: 5, kind: 'data', text: 'C' },
      { lane: 'B', from: 0, to: 2, kind: 'waits', text: 'waits' },
      { lane: 'B', from: 2, to: 3, kind: 'held', text: 'holds' },
      { lane: 'C', from: 0, to: 4, kind: 'waits', text: 'waits' },
      { lane: 'C', from: 4, to: 5, kind: 'held', text: 'holds' },
    ],
  },
  quarantine: {
    title: 'Redis loses its data, and grants nothing until all that it may have granted is over',
    lanes: ['A', 'Redis', 'B'],
    rows: [
      { caption: 'A holds a lock', arrow: ['Redis', 'A'] },
      { at: '0 s', caption: 'Redis restarts without its data' },
      { caption: 'B asks, and waits, because A may still work', arrow: ['B', 'Redis'] },
      { caption: 'a heartbeat tells A of the loss: store-reset', arrow: ['A', 'Redis'] },
      { at: '30 s', caption: 'maxTtl is over: B has the lock', arrow: ['Redis', 'B'] },
    ],
    spans: [
      { lane: 'A', from: 0, to: 3, kind: 'held', text: 'held' },
      { lane: 'Redis', from: 0, to: 1, kind: 'data', text: 'A' },
      { lane: 'Redis', from: 1, to: 4, kind: 'quiet', text: 'quiet' },
      { lane: 'Redis', from: 4, to: 5, kind: 'data', text: 'B' },
      { lane: 'B', from: 2, to: 4, kind: 'waits', text: 'waits' },
      { lane: 'B', from: 4, to: 5, kind: 'held', text: 'held' },
    ],
  },
  seats: {
    title: 'Two seats and four candidates: standbys lead in their order',
    lanes: ['1', '2', '3', '4'],
    rows: [
      { caption: 'two seats: 1 and 2 lead, and 3 and 4 stand by' },
      { caption: 'the term of 1 is done: 3 leads at once, and 1 is last', arrow: ['1', '3'] },
      { caption: '2 is killed: its seat stays taken for up to its TTL' },
      { caption: 'then 4 leads', arrow: ['2', '4'] },
      { caption: '1 is the next to lead' },
    ],
    spans: [
      { lane: '1', from: 0, to: 1, kind: 'held', text: 'leads' },
      { lane: '1', from: 1, to: 5, kind: 'waits', text: 'waits' },
      { lane: '2', from: 0, to: 2, kind: 'held', text: 'leads' },
      { lane: '2', from: 2, to: 3, kind: 'quiet', text: 'dead' },
      { lane: '3', from: 0, to: 1, kind: 'waits', text: 'waits' },
      { lane: '3', from: 1, to: 5, kind: 'held', text: 'leads' },
      { lane: '4', from: 0, to: 3, kind: 'waits', text: 'waits' },
      { lane: '4', from: 3, to: 5, kind: 'held', text: 'leads' },
    ],
  },
};
