import os from 'node:os';
import { expect, it } from 'vitest';
import { homeDirectory, stateDirectory } from '../../src/cli/open-locks.ts';

it.each<[NodeJS.Platform, Record<string, string>, string, string]>([
  ['linux', {}, '/home/me', '/home/me/.local/state/holdfast'],
  ['linux', { XDG_STATE_HOME: '/state' }, '/home/me', '/state/holdfast'],
  ['freebsd', { XDG_STATE_HOME: 'relative' }, '/home/me', '/home/me/.local/state/holdfast'],
  ['darwin', {}, '/Users/me', '/Users/me/Library/Application Support/holdfast'],
  ['win32', { LOCALAPPDATA: 'D:\\Local' }, 'C:\\Users\\me', 'D:\\Local\\holdfast'],
  ['win32', {}, 'C:\\Users\\me', 'C:\\Users\\me\\AppData\\Local\\holdfast'],
])('locks are kept where programs of the system keep such things: %s %o', (...given) => {
  const [platform, env, home, expected] = given;
  expect(stateDirectory(platform, env, () => home)).toBe(expected);
});

it.each(['', 'relative'])('a home is no place in the working directory: %j', (given) => {
  const userInfo = () => ({ ...os.userInfo(), homedir: '/home/me' });
  expect(homeDirectory({ homedir: () => given, userInfo } as typeof os)).toBe('/home/me');
});

it('a user without a home is told to name a file', () => {
  const homedir = (): string => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  const looks = (): string => homeDirectory({ ...os, homedir });
  expect(looks).toThrow(expect.objectContaining({ status: 69 }));
  expect(looks).toThrow('--store sqlite:FILE');
  // It is not asked for where it is not needed.
  expect(stateDirectory('linux', { XDG_STATE_HOME: '/state' }, homedir)).toBe('/state/holdfast');
});
