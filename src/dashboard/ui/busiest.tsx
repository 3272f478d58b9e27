/** The names with the most grants of the last minute; some of them may be free now. */
import type { PageView } from './feed.ts';
import { whole } from './text.ts';

/** What a view of the page is made of. */
export interface ViewProps {
  readonly view: PageView;
  readonly words: string;
  readonly choose: (name: string) => void;
}

export function Busiest({ view: { rates, rows }, words, choose }: ViewProps) {
  const wanted = words.toLowerCase();
  const busiest = rates.busiest.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (busiest.length === 0) return <p class="hint">No such grant in the last minute.</p>;
  return (
    <table class="busiest">
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">Grants a minute</th>
          <th scope="col">Waiting now</th>
        </tr>
      </thead>
      <tbody>
        {busiest.map(({ name, grants }) => {
          const row = rows.get(name);
          return (
            <tr key={name}>
              <th scope="row">
                <button type="button" class="link name" onClick={() => choose(name)}>
                  <bdi>{name}</bdi>
                </button>
              </th>
              <td>{whole(grants)}</td>
              <td>{row && !row.election ? whole(row.waiting) : 0}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
