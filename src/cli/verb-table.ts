/** All verbs: the help and the completion of shells are made from this table. */
import type { ListedVerb } from './arguments.ts';

/** By the verb and what comes behind it, in the order of the help. */
const USES: Readonly<Record<string, readonly [about: string, load: ListedVerb['load']]>> = {
  'run NAME -- COMMAND': ['run a command while holding a lock', () => import('./verbs/run.ts')],
  'resume FILE -- COMMAND': [
    'run a command with a lock that was handed over',
    () => import('./verbs/resume.ts'),
  ],
  'once KEY -- COMMAND': ['run a command unless it has been done', () => import('./verbs/once.ts')],
  'elect NAME -- COMMAND': [
    'run a command while leading, else stand by',
    () => import('./verbs/elect.ts'),
  ],
  'ls [PREFIX]': ['names that are held or waited for', () => import('./verbs/ls.ts')],
  'show NAME': ['its holders and waiters, in order', () => import('./verbs/show.ts')],
  'watch NAME': ['the same, live', () => import('./verbs/watch.ts')],
  'top [PREFIX]': ['all names in use, live, the longest wait first', () => import('./top/verb.ts')],
  'dashboard [PREFIX]': ['the same on a page, for browsers', () => import('./verbs/dashboard.ts')],
  'evict NAME': ['take a lock away from a holder', () => import('./verbs/evict.ts')],
  migrate: ['create the tables of the locks in a database', () => import('./verbs/migrate.ts')],
  doctor: ['what is wrong with a store, and what to do', () => import('./verbs/doctor.ts')],
  demo: ['what a lock does, and what only a fence does', () => import('./demo/verb.ts')],
  'completion SHELL': ['complete words in bash, zsh or fish', () => import('./completion/verb.ts')],
};

export const VERBS: ReadonlyMap<string, ListedVerb> = new Map(
  Object.entries(USES).map(([use, [about, load]]) => {
    const [name = ''] = use.split(' ');
    return [name, { use, about, load }];
  }),
);

/** What people who know other programs may call a verb. */
export const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['list', 'ls'],
  ['status', 'show'],
  ['inspect', 'show'],
  ['lock', 'run'],
  ['exec', 'run'],
  ['unlock', 'evict'],
  ['release', 'evict'],
  ['check', 'doctor'],
]);
