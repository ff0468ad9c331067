import type { PersonalTables } from '@tocsin/service-host';

/** What the service keeps about persons: texts of definitions. */
export const PERSONAL_TABLES: PersonalTables = {
  definitions: {
    texts: ['name', 'description', 'default_value', 'config'],
    place: { kind: 'custom_field', id: 'id' },
  },
  outbox: { json: ['body'] },
  dead_letters: { json: ['body'] },
};
