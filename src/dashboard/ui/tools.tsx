/** What is shown: the view, the search, and the kinds of locks. */
import type { RefObject } from 'preact';
import { type PageAddress, VIEWS } from './address.ts';
import { ORDERS, type RowOrder } from './order.ts';
import { FILTERS, type Filter, whole } from './text.ts';

interface ToolsProps {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly address: PageAddress;
  readonly go: (change: Partial<PageAddress>) => void;
  readonly shown: number;
  readonly all: number;
}

export function Tools({ search, address, go, shown, all }: ToolsProps) {
  return (
    <nav class="tools" aria-label="What is shown">
      <span class="views">
        {Object.entries(VIEWS).map(([name, text]) => (
          <button
            key={name}
            type="button"
            aria-pressed={address.view === name}
            onClick={() => go({ view: name as PageAddress['view'] })}
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
        value={address.search}
        onInput={({ currentTarget }) => go({ search: currentTarget.value })}
      />
      <select
        aria-label="Kind"
        value={address.kind}
        onChange={({ currentTarget }) => go({ kind: currentTarget.value as Filter })}
      >
        {optionsOf(FILTERS)}
      </select>
      <select
        aria-label="Order"
        value={address.order}
        onChange={({ currentTarget }) => go({ order: currentTarget.value as RowOrder })}
      >
        {optionsOf(ORDERS)}
      </select>
      <output aria-label="Shown">
        {whole(shown)} {shown < all && `of ${whole(all)} `}shown
      </output>
    </nav>
  );
}

const optionsOf = (all: Readonly<Record<string, string>>) =>
  Object.entries(all).map(([name, text]) => (
    <option key={name} value={name}>
      {text}
    </option>
  ));
