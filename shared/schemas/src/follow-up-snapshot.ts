import { z } from 'zod';
import { instant } from './envelope.ts';
import { largeValue } from './large-value.ts';
import { recordedKey } from './recorded-key.ts';

const id = z.int().min(1);
const text = z.union([z.string(), largeValue]);

/** A follow-up as events contain it. */
export const followUpSnapshot = z.object({
  id: id.meta({ description: 'ID of the follow-up' }),
  revision: id.meta({ description: 'The revision that this is: of two events, the larger one is newer' }),
  incident_id: id.meta({ description: 'ID of the incident' }),
  title: z.string().meta({ description: 'What is to be done, in one line' }),
  description: text.meta({ description: 'More about it, in any number of lines; empty: nothing' }),
  owner: z.string().meta({
    description: 'ID, as text, of the user who does it, or a name that an import has kept; empty: nobody',
  }),
  due_on: z.string().nullable().meta({ description: 'The day until which it is to be done, YYYY-MM-DD; null: none' }),
  status: z.string().meta({ description: '`open`, `done` or `dropped`' }),
  external_url: text.meta({ description: 'URL of it in another system, such as a ticket; empty: none' }),
  created_at: instant.meta({ description: 'When it was created' }),
  created_by: z.string().meta({ description: 'ID, as text, of the user whose API key created it' }),
  // Events of earlier releases lack it.
  created_by_key: z.object(recordedKey.shape).nullable().optional().meta({
    description: 'The API key, or session, that created it for the user; null: not known',
  }),
  completed_at: instant.nullable().meta({ description: 'When its status became `done`; null: it is not' }),
  updated_at: instant.meta({ description: 'When it last changed' }),
});
export type FollowUpSnapshot = z.infer<typeof followUpSnapshot>;
