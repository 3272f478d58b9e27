/** What takes long to fetch or to make, and is kept for later runs. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Makes the file or the folder of this path, unless it is there. Many processes may do so at once:
 * the first to finish wins.
 *
 * @param make gets a path in a folder of its own, which goes with all else that it holds.
 * @param newFolder whose path begins so.
 */
export async function madeOnce(
  path: string,
  make: (draft: string) => Promise<unknown>,
  newFolder: (prefix: string) => string | Promise<string> = mkdtemp,
): Promise<void> {
  if (existsSync(path)) return;
  await mkdir(dirname(path), { recursive: true });
  const folder = await newFolder(join(dirname(path), 'making-'));
  const draft = join(folder, 'made');
  try {
    await make(draft);
    await rename(draft, path).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
