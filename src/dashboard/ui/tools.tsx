/** What is shown: the view, the search, and the kinds of locks. */
import type { RefObject } from 'preact';
import { type Filter, whole } from './text.ts';

export type ViewName = 'queues' | 'graph' | 'timeline';

const VIEWS: readonly (readonly [ViewName, string])[] = [
  ['queues', 'Queues'],
  ['graph', 'Graph'],
  ['timeline', 'Timeline'],
];

const FILTERS: readonly (readonly [Filter, string])[] = [
  ['all', 'All kinds'],
  ['waited for', 'Waited for'],
  ['mutex', 'Mutexes'],
  ['permits', 'Semaphores'],
  ['election', 'Elections'],
  ['read-write', 'Read-write locks'],
  ['once', 'Once and refresh'],
];

interface ToolsProps {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly words: string;
  readonly setWords: (words: string) => void;
  readonly filter: Filter;
  readonly setFilter: (filter: Filter) => void;
  readonly viewName: ViewName;
  readonly setViewName: (name: ViewName) => void;
  readonly shown: number;
}

export function Tools(props: ToolsProps) {
  const { search, words, setWords, filter, setFilter, viewName, setViewName, shown } = props;
  return (
    <nav class="tools" aria-label="What is shown">
      <span class="views">
        {VIEWS.map(([name, text]) => (
          <button
            key={name}
            type="button"
            aria-pressed={viewName === name}
            onClick={() => setViewName(name)}
          >
            {text}
          </button>
        ))}
      </span>
      <input
        ref={search}
        type="search"
        aria-label="Search names, hosts and labels"
        placeholder="Search names, hosts, labels"
        spellcheck={false}
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <select
        aria-label="Kind"
        value={filter}
        onChange={({ currentTarget }) => setFilter(currentTarget.value as Filter)}
      >
        {FILTERS.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      <output aria-label="Shown">{whole(shown)} shown</output>
    </nav>
  );
}
