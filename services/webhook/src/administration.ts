import type { Knex } from '@tocsin/runtime';
import { ciphertextStore } from './store/ciphertext-store.ts';

/** Whether the database holds ciphertexts, which only the configured secret keys can decrypt. */
export const holdsSecrets = async (database: Knex): Promise<boolean> => ciphertextStore(database).hasAny();
