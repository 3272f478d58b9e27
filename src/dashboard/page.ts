/** The files of the page, which the bundler has put into the code as text. */
import type { HttpAnswer } from './http.ts';
import { script, style } from './ui/app.tsx?bundle';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none"
stroke="#0f766e" stroke-width="2" d="M5 7V5a3 3 0 0 1 6 0v2M3 7h10v7H3z"/></svg>`;

export const FILES: ReadonlyMap<string, HttpAnswer> = new Map([
  ['app.js', { status: 200, text: script, type: 'text/javascript' }],
  ['app.css', { status: 200, text: style, type: 'text/css' }],
  ['icon.svg', { status: 200, text: ICON, type: 'image/svg+xml' }],
]);

export const PAGE: HttpAnswer = html(
  200,
  '<script src="app.js" defer></script><div id="app"></div>',
);

/**
 * Instead of the page, for those who are not let in. The form goes to the address that served it,
 * so the token cannot go to a neighbour of this dashboard.
 */
export function door(status: number, says: string, takesToken: boolean): HttpAnswer {
  const form = `<form method="post"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Open</button></form>`;
  const body = `<h1>Holdfast</h1><p class="hint">${says}</p>${takesToken ? form : ''}`;
  return html(status, `<main class="door">${body}</main>`);
}

function html(status: number, body: string): HttpAnswer {
  const text = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Holdfast</title>
<link rel="icon" href="icon.svg"><link rel="stylesheet" href="app.css"></head>
<body>${body}</body></html>`;
  return { status, text, type: 'text/html' };
}
