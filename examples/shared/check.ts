/** What an example promises, looked at when it has run: the last lines that it prints. */
import * as screen from './screen.ts';

/** Says what came out; if that is not as it has to be, the example ends with status 1. */
export function check(good: boolean, result: string): void {
  if (good) return screen.say(screen.good(result));
  screen.say(screen.bad(`This is not how it has to be: ${result}`));
  process.exitCode = 1;
}
