/** A store of documents without a clock, in a folder: each version of a text is a file. */
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from 'holdfast';
import { documentStore } from 'holdfast/document';

// biome-ignore lint/style/noDefaultExport: the module of a store is its default export.
export default (folder: string): Store => {
  const pathOf = (key: string): string => join(folder, Buffer.from(key).toString('hex'));
  const latest = (key: string): number => {
    mkdirSync(pathOf(key), { recursive: true });
    const versions = readdirSync(pathOf(key)).filter((name) => /^\d+$/.test(name));
    return Math.max(0, ...versions.map(Number));
  };
  return documentStore({
    name: 'folder',
    async get(key) {
      const version = latest(key);
      if (version === 0) return {};
      return { version: `${version}`, text: readFileSync(join(pathOf(key), `${version}`), 'utf8') };
    },
    async put(key, text, onto) {
      const version = Number(onto ?? 0) + 1;
      if (version <= latest(key)) return 'other';
      const written = join(pathOf(key), randomUUID());
      writeFileSync(written, text);
      try {
        linkSync(written, join(pathOf(key), `${version}`));
        return { version: `${version}` };
      } catch {
        return 'other';
      } finally {
        rmSync(written);
      }
    },
  });
};
