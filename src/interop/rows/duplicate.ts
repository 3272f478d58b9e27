import { causesOf } from '../../clients/causes.ts';

/** How MySQL and MariaDB say that there is such a row; other libraries wrap the client's error. */
const DUPLICATE = 1062;

export function isDuplicate(error: unknown): boolean {
  return [...causesOf(error)].some(({ errno }) => errno === DUPLICATE);
}
