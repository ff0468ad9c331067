export const orphan = 'no-orphan';
