/**
 * `node call.js MODULE NAME OPTIONS` calls what a module of this folder exports: a figure's
 * `measure`, or the work of one of its processes, whose answer goes to the process that started it.
 */
const [module = '', name = '', options = ''] = process.argv.slice(2);
const exported = (await import(module)) as Record<string, (options: unknown) => unknown>;
const work = exported[name];
if (!work) throw new Error(`${module} has no ${name}.`);
const answer = await work(JSON.parse(options));
if (answer !== undefined) process.send?.(answer, () => process.disconnect());

export {};
