import { cutKey } from '@tocsin/schemas';

/**
 * Returns the key that lists sort a name by (contract: Catalog). It is stored and compared by bytes, so that the order does
 * not depend on the locale of the database.
 */
export const sortKeyOf = (name: string): string => cutKey(name.normalize('NFKC').toLowerCase());
