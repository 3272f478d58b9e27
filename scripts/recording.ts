/**
 * `npm run recording`: docs/images/demo.svg, a terminal in which `holdfast demo` runs at its own
 * pace, again and again. The lines and their times are those of a real run. It begins while the end
 * rests: where nothing moves, and for readers who want no motion, the whole of it is shown.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from './steps.ts';

const COMMAND = ['--import', './scripts/sources.mjs', 'src/cli/main.ts', 'demo'];
const PROMPT = '$ npx holdfast demo';
/** How long the end stays before it begins again, in ms. */
const REST_MS = 5000;
/** In pixels. */
const [LETTER, LINE, EDGE] = [7.9, 21, 20];

interface Shown {
  readonly text: string;
  /** Since the beginning, in ms. */
  readonly at: number;
}

const STYLE = `
  rect { fill: #f6f8fa; stroke: #d0d7de }
  text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
  .prompt { fill: #0b7a75; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    rect { fill: #161b22; stroke: #30363d }
    text { fill: #e6edf3 }
    .prompt { fill: #4fd1c5 }
  }`;

async function record(): Promise<readonly Shown[]> {
  const start = performance.now();
  const child = spawn(process.execPath, COMMAND, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Shown[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    lines.push({ text, at: performance.now() - start });
  }
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`The demo ended with ${child.exitCode}.`);
  return lines;
}

function draw(lines: readonly Shown[]): string {
  const total = (lines.at(-1)?.at ?? 0) + REST_MS;
  const begin = (REST_MS / 2 - total).toFixed(0);
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * LETTER) + 2 * EDGE;
  const height = (lines.length + 1) * LINE + 2 * EDGE;
  const rows = lines.map(({ text }, n) => {
    const y = EDGE + LINE * (n + 2) - 6;
    return `<text id="line${n}" x="${EDGE}" y="${y}">${escaped(text)}</text>`;
  });
  const moves = lines.map(({ at }, n) => {
    const percent = ((at / total) * 100).toFixed(1);
    return `  @keyframes line${n} { 0% { opacity: 0 } ${percent}% { opacity: 1 } }
    #line${n} { animation: line${n} ${total.toFixed(0)}ms steps(1) ${begin}ms infinite }`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}">
<title>${PROMPT.slice(2)}: ${escaped(lines.at(-1)?.text ?? '')}</title>
<style>${STYLE}
  @media (prefers-reduced-motion: no-preference) {
  ${moves.join('\n  ')}
  }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text x="${EDGE}" y="${EDGE + LINE - 6}" class="prompt">${PROMPT}</text>
${rows.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const lines = await record();
writeFileSync(join(ROOT, 'docs/images/demo.svg'), draw(lines));
