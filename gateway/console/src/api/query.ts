import type { Query } from '@tocsin/sdk';

/** A query string; values of a list are repeated, and empty texts are left out. */
export function query(parameters: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of [value].flat()) {
      if (each !== undefined && each !== null && each !== '') search.append(name, String(each));
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
