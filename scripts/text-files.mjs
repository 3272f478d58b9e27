/**
 * Files of Lua and SQL as modules: `import claim from './lua/claim.lua'` gets a text without its
 * comments, which only readers of the sources need. The build, the tests and programs that run from
 * sources share it, so all processes of a version send the same scripts.
 *
 * Lua also loses its indentation and empty lines. Then the lines that an error of Redis counts are
 * not those of a file; they never are, since a script is put together from several files. SQL keeps
 * both, because people read it when they print a migration.
 */
import { readFileSync } from 'node:fs';

/** Here `--` is text. A backslash escapes in Lua and MySQL, and our SQL for PostgreSQL has none. */
const STRING = String.raw`('(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|\[(=*)\[[\s\S]*?\]\2\])`;
/** To the end of its line: there are no others. Those that name a part (forms.ts) stay. */
const LINE = '--(?! include ).*';
const COMMENT = new RegExp(`${STRING}|^ *${LINE}\\n| *${LINE}`, 'gm');
const BLANK = new RegExp(`${STRING}|^\\s+`, 'gm');

/** The code of the module, if that path is of such a file. */
export function textFile(path) {
  if (!/\.(lua|sql)$/.test(path)) return undefined;
  return `export default ${JSON.stringify(stripped(path, readFileSync(path, 'utf8')))};\n`;
}

/** What is imported of that text. */
export function stripped(path, text) {
  const bare = text.replace(COMMENT, '$1');
  return path.endsWith('.lua') ? bare.replace(BLANK, '$1') : bare;
}
