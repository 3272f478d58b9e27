/**
 * What is wrong with a URL. No message repeats any part of it: in a malformed one, any part may be
 * the password.
 */
import { UsageError } from '../base/errors.ts';

export class UrlForm {
  readonly #what: string;
  readonly #example: string;

  /** @param what begins a sentence, such as 'The Redis URL'. */
  constructor(what: string, example: string) {
    this.#what = what;
    this.#example = example;
  }

  malformed(why: string): UsageError {
    return new UsageError(
      `${this.#what} is malformed: ${why}. The form is '${this.#example}'; in a user name or` +
        ' password, characters such as / @ : and % are written as %2F, %40, %3A and %25.',
    );
  }

  decoded(text: string): string {
    try {
      return decodeURIComponent(text);
    } catch {
      throw this.malformed('a % in it is not followed by two digits');
    }
  }

  /** Hides what a package throws, which has the URL in it. @throws UsageError */
  reading<C>(make: () => C): C {
    try {
      return make();
    } catch {
      throw this.malformed('the client cannot read it');
    }
  }
}
