import { instant } from '@tocsin/contracts';
import { pageQuery, pagination, pathId, schemaReference } from '@tocsin/http';
import { z } from 'zod';

const id = z.int().min(1);

/** A session of a browser (contract: Sessions). */
const session = z
  .strictObject({
    id: id.meta({ description: 'Identifies the session in paths; as api_key.id, it is in the response of /me' }),
    user_id: id.meta({ description: 'ID of the user who is signed in' }),
    name: z.string().meta({ description: 'The browser and its system, as the browser tells them' }),
    current: z.boolean().meta({ description: 'Whether the request comes from this session' }),
    created_at: instant.meta({ description: 'When the user signed in' }),
    last_used_at: instant.nullable().meta({ description: 'The minute of the last request; null: none so far' }),
    expires_at: instant.nullable().meta({ description: 'When the session ends at the latest' }),
    revoked_at: instant.nullable().meta({ description: 'When the session was ended; null: it was not' }),
  })
  .meta({ id: 'Session' });

export type SessionWire = z.infer<typeof session>;

export const sessionParams = z.strictObject({ id: pathId.meta({ description: 'ID of the session' }) });
export const sessionQuery = z.strictObject(pageQuery);
export const sessionReply = z.strictObject({ session: schemaReference(session, 'The session after the request') });
export const sessionPage = z.strictObject({
  sessions: z.array(session).meta({ description: 'The sessions of the page, by the email address of the user and ID' }),
  pagination,
});
