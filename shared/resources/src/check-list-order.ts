import { invalidRequest } from '@tocsin/http';

/**
 * Checks the `order` of the entries of a list, which follows from their places; a file may have it because the API
 * shows it (contract: Administration).
 * @throws DomainError `invalid_request` naming the first entry that is at another place
 */
export function checkListOrder(field: string, entries: readonly { order?: number | undefined }[]): void {
  const misplaced = entries.findIndex(({ order }, index) => order !== undefined && order !== index);
  if (misplaced === -1) return;
  throw invalidRequest(
    `${field}.${misplaced}.order`,
    `Must be ${misplaced}, its place in the list; leave order out to let the place decide`,
  );
}
