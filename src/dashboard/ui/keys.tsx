/** Keys of the whole page, and the list of them. */
import { useEffect, useRef } from 'preact/hooks';

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['j k', 'next and previous resource'],
  ['Enter', 'the chosen one, or the first'],
  ['Escape', 'clear the search, leave a field, close'],
  ['/', 'search'],
  ['p', 'pause and resume'],
  ['q g t b', 'queues, graph, timeline, busiest'],
  ['?', 'these keys'],
];

/**
 * Which keys of the page work, by what has the focus: none in a list of choices, which has its own;
 * while a person types, only those that write nothing; and the arrows only where they would move
 * nothing else.
 */
export function counts(key: string, target: EventTarget | null): boolean {
  if (target instanceof HTMLSelectElement) return false;
  if (target instanceof HTMLInputElement) return key.length > 1;
  if (target instanceof HTMLButtonElement && key === 'Enter') return false;
  if (!key.startsWith('Arrow')) return true;
  return target === document.body || (target as Element).closest('.list') !== null;
}

/** While a dialog is open, none counts. */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]')) return;
      // The way out of a list of choices, and of an empty search.
      const left = (target as Element).closest<HTMLElement>('select, input:placeholder-shown');
      if (key === 'Escape' && left) return left.blur();
      const action = current.current[key];
      if (!action || !counts(key, target)) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

export function Help({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <footer>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </footer>
    </dialog>
  );
}
