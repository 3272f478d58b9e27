/** What a page makes of its connections, which do what a test says. */
import { expect, it, onTestFinished, vi } from 'vitest';

interface Feed {
  follow(show: (view: { readonly link: string }) => void): void;
}

/** As a string: only a browser has the types that it needs. */
const { follow }: Feed = await import('../../src/dashboard/ui/feed.ts' as string);

class Connection {
  static readonly CLOSED = 2;
  static newest: Connection;
  readyState = 1;
  onmessage!: (message: { readonly data: string }) => void;
  onerror!: () => void;

  constructor() {
    Connection.newest = this;
  }
}

it('one that the server has closed does not make the next one count as broken', async () => {
  vi.useFakeTimers().stubGlobal('EventSource', Connection);
  vi.stubGlobal('fetch', async () => new Response());
  onTestFinished(() => void vi.useRealTimers().unstubAllGlobals());
  const data = JSON.stringify({ rows: [], gone: [], beats: [], told: [], quietMs: 8_000 });
  let shown = '';
  follow(({ link }) => (shown = link));
  const first = Connection.newest;
  first.onmessage({ data });
  first.readyState = Connection.CLOSED;
  first.onerror();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(Connection.newest).not.toBe(first);
  expect(shown).toBe('broken');
  Connection.newest.onmessage({ data });
  await vi.advanceTimersByTimeAsync(7_999);
  expect(shown).toBe('live');
  await vi.advanceTimersByTimeAsync(1);
  expect(shown).toBe('broken');
});
