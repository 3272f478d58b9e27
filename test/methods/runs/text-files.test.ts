/** What of a file in Lua or SQL the build, the tests and programs from sources import. */
import { expect, it } from 'vitest';
// biome-ignore lint/correctness/useImportExtensions: its types are in the other file.
import { stripped } from '../../../scripts/text-files.mjs';

it.each([
  ['a comment at the start', "-- It's one.\nreturn 1\n", 'return 1\n'],
  ['comments between lines', 'a()\n\n-- One.\n  -- "Two.\n\nb()\n', 'a()\nb()\n'],
  ['a comment behind code', 'a() -- One.\nb()--Two.\n-- Three.', 'a()\nb()\n'],
  ['indentation and empty lines', 'if a then\n\n    b()\nend\n\n', 'if a then\nb()\nend\n'],
])('Lua loses %s', (_, text, left) => {
  expect(stripped('a.lua', text)).toBe(left);
});

it.each([
  ['flags', '#!lua flags=allow-oom\nreturn 1\n'],
  ['the names of its parts', '-- include clock.lua\nreturn now\n'],
  ['dashes in strings', `a('--', "--", 'it\\'s --', "\\" -- ", '\\\\')\n`],
  ['long strings', 'a([[\n  -- one\n\n  two]], [=[ ]] -- ]=])\n'],
  ['a minus before a minus', 'return 1 - -1\n'],
])('Lua keeps %s', (_, text) => {
  expect(stripped('a.lua', `${text}-- The end.\n`)).toBe(text);
});

it('an indented name of a part stays a line of its own', () => {
  expect(stripped('a.lua', 'f()\n  -- include b.lua\n  g()\n')).toBe(
    'f()\n-- include b.lua\ng()\n',
  );
});

it('SQL loses comments, and stays as readable', () => {
  const text = "-- One.\nCREATE a (\n  -- It's two.\n  b '--''--', -- Three.\n  c\n);\n\nDROP a;\n";
  expect(stripped('a.sql', text)).toBe("CREATE a (\n  b '--''--',\n  c\n);\n\nDROP a;\n");
});
