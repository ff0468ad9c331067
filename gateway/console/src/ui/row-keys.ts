import { useKeys } from './use-keys.ts';

const ROWS = '[data-rows] > li';

/** Goes to the first link of the row that is `by` rows below. */
function focusRow(by: number): void {
  const rows = [...document.querySelectorAll(ROWS)];
  const index = rows.findIndex((row) => row.contains(document.activeElement));
  rows[Math.max(0, Math.min(rows.length - 1, index + by))]?.querySelector('a')?.focus();
}

/** What keys do on the page of a list. */
export const useRowKeys = (): void =>
  useKeys({
    j: () => focusRow(1),
    k: () => focusRow(-1),
    x: () => document.activeElement?.closest(ROWS)?.querySelector<HTMLElement>('input[type=checkbox]')?.click(),
    '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
  });
