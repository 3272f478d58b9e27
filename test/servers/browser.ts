/**
 * Chromium out of Debian's packages, without windows, driven by playwright-core.
 *
 * It runs through the loader of its own C library, as all of these programs do. But it looks for
 * its files beside the program that the kernel has started, which is then the loader, and starts
 * its own processes anew from there. So a copy of the loader lies beside it, and a script starts it
 * and all of its processes.
 */
import { copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { HANG_MS } from '../support/this-run.ts';
import { findProgram } from './programs.ts';

const ARGS = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'];

/** Leads to this machine, but the browser trusts it no more than any host without TLS. */
export const ELSEWHERE = 'elsewhere.test';

export type OpenBrowser = { readonly browser: Browser; close(): Promise<void> };

export async function openBrowser(): Promise<OpenBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-browser-'));
  const script = join(folder, 'chromium.sh');
  const fonts = join(folder, 'fonts.conf');
  const { root, command } = await programOf();
  await writeFile(script, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  await writeFile(fonts, fontsIn(root, folder));
  const browser = await chromium.launch({
    executablePath: script,
    args: [
      ...ARGS,
      `--browser-subprocess-path=${script}`,
      `--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`,
    ],
    env: { PATH: process.env.PATH ?? '', HOME: folder, FONTCONFIG_FILE: fonts },
    timeout: HANG_MS,
  });
  const close = async (): Promise<void> => {
    await browser.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  return { browser, close };
}

type Program = { readonly root: string; readonly command: string };

async function programOf(): Promise<Program> {
  const [loader, flag, folders = '', file = ''] = await findProgram('chromium');
  const own = join(dirname(file), 'loader');
  // Several may do so at once, and others start it meanwhile.
  await copyFile(loader, `${own}.${process.pid}`);
  await rename(`${own}.${process.pid}`, own);
  const sound = folders.split(':').map((folder) => join(folder, 'pulseaudio'));
  const libraries = [folders, ...sound].join(':');
  const root = join(dirname(file), '../../..');
  return { root, command: [own, flag, libraries, file].join(' ') };
}

function fontsIn(root: string, folder: string): string {
  const dirs = `<dir>${join(root, 'usr/share/fonts')}</dir><cachedir>${folder}/fonts</cachedir>`;
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>${dirs}</fontconfig>`;
}
