import type { Documentation } from '@tocsin/http';
import { SCOPES } from '@tocsin/schemas';
import type { sessionContracts, SessionWire } from './contracts.ts';

const session: SessionWire = {
  id: 4,
  user_id: 1,
  kind: 'browser',
  name: 'Firefox on Linux',
  scopes: [...SCOPES],
  current: false,
  created_at: '2026-11-24T10:00:00.000Z',
  last_used_at: '2026-11-24T10:15:00.000Z',
  expires_at: '2026-12-01T10:00:00.000Z',
  revoked_at: null,
};

/** contract: Sessions */
export const sessionOperations: Documentation<typeof sessionContracts> = {
  listSessions: {
    description:
      'Returns the sessions of browsers and the agents that have not ended, by user and ID; without `manage_settings` only those of the caller.',
    reply: { sessions: [session], pagination: { limit: 50, has_more: false } },
  },
  createUserLoginLink: {
    description:
      'Creates a link that signs the user in to the console once, within ten minutes; it replaces those that were not used. It needs a session, or a key with every scope and no expiry; a session that a key began counts as that key.',
    params: { id: 2 },
    reply: { login_link: { path: '/app/sign-in#tcl_8sQ2…', expires_at: '2026-11-24T10:25:00.000Z' } },
  },
  revokeSession: {
    description: 'Signs a browser or an agent out, within a second. It can be repeated.',
    params: { id: 4 },
    reply: { session: { ...session, revoked_at: '2026-11-24T11:00:00.000Z' } },
  },
};
