import path from 'node:path';

export const schema = { name: 'custom_field', migrations: path.join(import.meta.dirname, '../migrations') } as const;
