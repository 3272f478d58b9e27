/**
 * `npm run docs`: the pages, and the docstrings of every entry, as one site with a search, in
 * `site`. It fails at any warning, such as a link that leads nowhere or a public type that is not
 * exported, and at a dead link in the site itself.
 */
import { fileURLToPath } from 'node:url';
import { deadLinks } from './docs/dead-links.ts';
import { makeSite } from './docs/make-site.ts';
import { ROOT } from './steps.ts';

const SITE = fileURLToPath(new URL('../site', import.meta.url));

process.chdir(ROOT);
const good = await makeSite(SITE);
const dead = good ? deadLinks(SITE) : [];
for (const link of dead) console.log(link);
if (good && dead.length === 0) console.log('open site/index.html');
else process.exitCode = 1;
