/** One row that a statement takes if it is free, and that another leaves as a tombstone. */
import type { Connected } from '../measuring/subject.ts';

interface Texts {
  readonly take: string;
  readonly leave: string;
}

/** Both take a name and an id; `run` returns how many rows they changed. */
export function twoStatements(
  { take, leave }: Texts,
  run: (text: string, values: [name: string, id: string]) => Promise<number | null>,
  close: () => Promise<unknown>,
): Connected {
  return {
    task: (resource) => async () => {
      const name = `bare:${resource}`;
      if (!(await run(take, [name, 'id']))) throw new Error(`${name} is taken.`);
      return () => run(leave, [name, 'id']);
    },
    close,
  };
}
