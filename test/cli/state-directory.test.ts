import { expect, it } from 'vitest';
import { stateDirectory } from '../../src/cli/open-locks.ts';

it.each<[NodeJS.Platform, Record<string, string>, string, string]>([
  ['linux', {}, '/home/me', '/home/me/.local/state/holdfast'],
  ['linux', { XDG_STATE_HOME: '/state' }, '/home/me', '/state/holdfast'],
  ['freebsd', { XDG_STATE_HOME: 'relative' }, '/home/me', '/home/me/.local/state/holdfast'],
  ['darwin', {}, '/Users/me', '/Users/me/Library/Application Support/holdfast'],
  ['win32', { LOCALAPPDATA: 'D:\\Local' }, 'C:\\Users\\me', 'D:\\Local\\holdfast'],
  ['win32', {}, 'C:\\Users\\me', 'C:\\Users\\me\\AppData\\Local\\holdfast'],
])('locks are kept where programs of the system keep such things: %s %o', (...given) => {
  const [platform, env, home, expected] = given;
  expect(stateDirectory(platform, env, home)).toBe(expected);
});
