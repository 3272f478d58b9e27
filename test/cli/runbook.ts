/** What the runbook shows of each command, and how to compare it with what the command prints. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

const PAGE = new URL('../../docs/guide/runbook.md', import.meta.url);
const BLOCK = /^```console\n\$ holdfast (.*)\n([\s\S]*?)^```$/gm;

/** By command, as in the page. */
export const SHOWN: ReadonlyMap<string, string> = new Map(
  [...readFileSync(PAGE, 'utf8').matchAll(BLOCK)].map(([, command = '', output = '']) => {
    return [command, comparable(output)];
  }),
);

/** What is another each time is a word: hosts, processes, tokens, times. */
export function comparable(output: string): string {
  return output
    .replaceAll(hostname(), 'HOST')
    .replace(/\bapi-\d\b/g, 'HOST')
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+Z)?/g, 'TIME')
    .replace(/\b\d{16,}\b/g, 'TOKEN')
    .replace(/\b\d+(\.\d+)?( ?(ms|s|min))\b/g, 'SPAN')
    .replace(/\b\d+(\.\d+){3}(:\d+)?\b/g, 'ADDRESS')
    .replace(/\bRedis \d+\.\d+\.\d+/g, 'Redis VERSION')
    .replace(/ (ahead of|behind) /g, ' OFF ')
    .replace(/\bHOST( pid)? +\d+\b/g, 'HOST$1 PID')
    .replace(/ +/g, ' ')
    .trim();
}
