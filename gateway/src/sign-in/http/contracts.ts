import { instant } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers, pageQuery, pagination, pathId, schemaReference } from '@tocsin/http';
import { z } from 'zod';

const id = z.int().min(1);

/** A session of a browser, or an agent (contract: Sessions). */
const session = z
  .strictObject({
    id: id.meta({ description: 'Identifies the session in paths; as api_key.id, it is in the response of /me' }),
    user_id: id.meta({ description: 'ID of the user who is signed in' }),
    kind: z
      .enum(['browser', 'agent'])
      .meta({ description: 'Who acts as the user: a browser, or a program that the user has allowed to by OAuth' }),
    name: z.string().meta({ description: 'The browser and its system, or the agent, as they tell them' }),
    scopes: z.array(z.string()).meta({ description: 'What it may do at most' }),
    current: z.boolean().meta({ description: 'Whether the request comes from this session' }),
    created_at: instant.meta({ description: 'When the user signed in, or allowed the agent' }),
    last_used_at: instant.nullable().meta({ description: 'The minute of the last request; null: none so far' }),
    expires_at: instant.nullable().meta({ description: 'When the session ends at the latest' }),
    revoked_at: instant.nullable().meta({ description: 'When the session was ended; null: it was not' }),
  })
  .meta({ id: 'Session' });

export type SessionWire = z.infer<typeof session>;

const sessionParams = z.strictObject({ id: pathId.meta({ description: 'ID of the session' }) });
const sessionQuery = z.strictObject(pageQuery);
const sessionReply = z.strictObject({ session: schemaReference(session, 'The session after the request') });
const sessionPage = z.strictObject({
  sessions: z.array(session).meta({ description: 'The sessions of the page, by the email address of the user and ID' }),
  pagination,
});

const loginLink = z
  .strictObject({
    path: z.string().meta({
      description: 'The address that signs the user in, at the host of the workspace; it is shown only here',
    }),
    expires_at: instant.meta({ description: 'Until when it works, once' }),
  })
  .meta({ id: 'LoginLink' });

const loginLinkParams = z.strictObject({ id: pathId.meta({ description: 'ID of the user' }) });
const loginLinkReply = z.strictObject({ login_link: schemaReference(loginLink, 'The link') });

const SESSIONS = '/api/v1/settings/sessions';
const sessions = { tag: 'Sessions', scope: 'api_keys:manage' } as const;

/** contract: Sessions */
export const sessionContracts = {
  listSessions: {
    ...endpoint('GET', SESSIONS, 'List sessions'),
    ...sessions,
    query: sessionQuery,
    cost: { base: 2 },
    reply: { status: 200, body: sessionPage },
  },
  createUserLoginLink: {
    ...endpoint('POST', '/api/v1/settings/users/{id}/login-link', 'Create a link that signs a user in'),
    ...{ tag: 'Users', scope: 'users:write', needs: ['manage_settings'] },
    errors: ['permission_denied', 'invalid_resource_state'],
    params: loginLinkParams,
    reply: { status: 201, body: loginLinkReply, assigned: ['login_link.path'] },
  },
  revokeSession: {
    ...endpoint('POST', `${SESSIONS}/{id}/revoke`, 'End a session'),
    ...sessions,
    errors: ['permission_denied'],
    params: sessionParams,
    reply: { status: 200, body: sessionReply },
  },
} as const satisfies Contracts;

export type SessionApi = Handlers<typeof sessionContracts>;
