import path from 'node:path';

export const schema = { name: 'catalog', migrations: path.join(import.meta.dirname, '../migrations') } as const;
