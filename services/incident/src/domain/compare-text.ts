/** The order of the database's collation "C": by code points, which is by bytes. */
export const byCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
