import { invalidRequest } from '@tocsin/http';

/**
 * Checks the `order` of the entries of a list, which a request may have because the API shows it. The place decides;
 * `order` must only not contradict it, so that a list can be sent back without one of its entries (contract:
 * Configuration).
 * @throws DomainError `invalid_request` naming the first entry with an order that is not greater than those before
 */
export function checkListOrder(field: string, entries: readonly { order?: number | undefined }[]): void {
  let highest = -1;
  for (const [index, { order }] of entries.entries()) {
    if (order === undefined) continue;
    if (order <= highest) {
      throw invalidRequest(
        `${field}.${index}.order`,
        'Must be greater than that of the entries before it; leave order out to let the place decide',
      );
    }
    highest = order;
  }
}
