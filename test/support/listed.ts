/** All names of a list, in its order. */
export async function listed(names: AsyncIterable<string> | undefined): Promise<string[]> {
  const all: string[] = [];
  for await (const name of names ?? []) all.push(name);
  return all;
}
