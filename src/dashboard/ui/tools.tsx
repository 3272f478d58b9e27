/** What is shown: the view, the search, and the kinds of locks. */
import type { RefObject } from 'preact';
import { FILTERS, type Filter, whole } from './text.ts';

const VIEWS = { queues: 'Queues', graph: 'Graph', timeline: 'Timeline' };

export type ViewName = keyof typeof VIEWS;

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
        {Object.entries(VIEWS).map(([name, text]) => (
          <button
            key={name}
            type="button"
            aria-pressed={viewName === name}
            onClick={() => setViewName(name as ViewName)}
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
        {Object.entries(FILTERS).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      <output aria-label="Shown">{whole(shown)} shown</output>
    </nav>
  );
}
