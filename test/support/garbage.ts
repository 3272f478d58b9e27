/** Without it, a test would have to wait until the runtime feels like it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects at once what nobody can reach any more. */
export const collect: () => void = runInNewContext('gc');
