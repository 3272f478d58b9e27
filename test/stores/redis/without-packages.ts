/** Takes a lock by a URL where some packages are not installed: `missing,packages url`. */
import { register } from 'node:module';

const [, , missing = '', url = ''] = process.argv;
const hook = `
const missing = new Set(${JSON.stringify(missing.split(','))});
export function resolve(name, context, next) {
  if (!missing.has(name)) return next(name, context);
  throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { connect } = await import('../../../src/connect.ts');
try {
  await using locks = await connect(url);
  await locks.mutex('x').run(() => console.log('acquired'));
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  console.log(`${code}: ${message}`);
}
