/** What Bun's own SQL makes of the server's replies; prints it as one line of JSON. Run by Bun. */
import {
  changeState,
  isRetryable,
  optimistic,
  rowLock,
  transactionLock,
} from '../../../src/database-locks/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: the types of Bun are not here.
type Untyped = any;
const { SQL }: Untyped = await import('bun' as string);

const sql = new SQL(process.argv[2]);
const table = 'stock';
const key = { id: 'a' };
const inside = (work: (tx: Untyped) => Promise<unknown>): Promise<unknown> => sql.begin(work);
const lock = (tx: Untyped, more: object = {}) => rowLock(tx, { table, key, ...more });

/** While another transaction has the row. */
const beside = (more: object) =>
  inside(async (tx) => {
    await lock(tx);
    return outcome(inside((other) => lock(other, more)));
  });

const both = () => {
  const ids = ['a', 'b'];
  let waiting = 0;
  let give = (): void => {};
  const given = new Promise<void>((resolve) => (give = resolve));
  const work = (mine: number) =>
    inside(async (tx) => {
      await lock(tx, { key: { id: ids[mine] } });
      waiting += 1;
      if (waiting === 2) give();
      await given;
      await lock(tx, { key: { id: ids[1 - mine] } });
    });
  return Promise.all([outcome(work(0)), outcome(work(1))]);
};

async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return (await work) ?? null;
  } catch (error) {
    const { code, reason } = error as Untyped;
    return { code, reason, retryable: isRetryable(error) };
  }
}

const change = { table, key, from: { n: 10 }, to: { n: 9 } };
const row = { table, key, version: 'version' };
const said = {
  locked: Number(((await inside((tx) => lock(tx))) as Untyped).n),
  named: await outcome(inside((tx) => transactionLock(tx, 'all', { wait: '1s' }))),
  nowait: await beside({ wait: 'nowait' }),
  soon: await beside({ wait: '1s' }),
  skip: await beside({ wait: 'skip' }),
  deadlock: await both(),
  changed: await inside(async (tx) => [
    await changeState(tx, change),
    await changeState(tx, change),
  ]),
  optimistic: await inside(async (tx) => {
    const { changed } = await optimistic(tx, row, () => ({ n: 5 }));
    return changed;
  }),
  pool: await outcome((async () => lock(sql))()),
};
console.log(JSON.stringify(said));
process.exit();
