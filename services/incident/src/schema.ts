import path from 'node:path';

export const schema = { name: 'incident', migrations: path.join(import.meta.dirname, '../migrations') } as const;
