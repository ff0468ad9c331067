import { z } from 'zod';
import type { Keyring } from '@tocsin/runtime';

/** Every scope that an API key can have (contract: Authentication). */
export const SCOPES = [
  'incidents:read',
  'incidents:write',
  'slack_context:read',
  'services:read',
  'services:write',
  'teams:read',
  'teams:write',
  'custom_fields:read',
  'custom_fields:write',
  'webhooks:manage',
] as const;

export type Scope = (typeof SCOPES)[number];
export const PERMISSIONS = ['manage_settings', 'manage_teams'] as const;
export type Permission = (typeof PERMISSIONS)[number];
/**
 * What an operation asks for besides the key's scope: a seat and permissions of the key's owner, which the gateway checks, and
 * a state of the incident, which its service does.
 */
export const PREREQUISITES = ['active_responder', ...PERMISSIONS, 'mutable_incident', 'slack_channel'] as const;
export type Prerequisite = (typeof PREREQUISITES)[number];

const id = z.int().min(1);

/**
 * Whom a request is made for, as the gateway found out and signed. It carries the workspace's settings too, so no
 * service needs a copy of them; `version` counts the changes of the workspace's configuration and users.
 */
const userPrincipal = z.object({
  kind: z.literal('user'),
  workspace: z.object({
    id,
    slug: z.string(),
    version: z.int().min(0),
    is_demo: z.boolean(),
    history_days: z.number().positive().nullable(),
    reporting_currency: z.string(),
    short_title_required: z.boolean(),
  }),
  user_id: id,
  key_id: id,
});

/** One of our own services, asking another. */
const servicePrincipal = z.object({ kind: z.literal('service'), name: z.string() });

const signed = z.object({
  principal: z.discriminatedUnion('kind', [userPrincipal, servicePrincipal]),
  expires: z.int(),
});

export type Principal = z.infer<typeof userPrincipal>;
export type ServicePrincipal = z.infer<typeof servicePrincipal>;
export type WorkspaceContext = Principal['workspace'];

export const PRINCIPAL_HEADER = 'x-tocsin-principal';
/** The purpose of the keyring that signs principals. */
export const PRINCIPAL_PURPOSE = 'principal';

/** Long enough for a slow hop and clocks that differ a little; too short to be worth stealing. */
const LIFETIME = 60_000;

export function signPrincipal(keyring: Keyring, principal: Principal | ServicePrincipal): string {
  const payload = Buffer.from(JSON.stringify({ principal, expires: Date.now() + LIFETIME }));
  return `${payload.toString('base64url')}.${keyring.sign(payload).toString('base64url')}`;
}

/** The principal that the header vouches for; `undefined` for a forged, foreign or expired one. */
export function verifyPrincipal(
  keyring: Keyring,
  header: string | undefined,
): Principal | ServicePrincipal | undefined {
  const [payload, signature] = (header ?? '').split('.').map((part) => Buffer.from(part, 'base64url'));
  if (payload === undefined || signature === undefined || !keyring.verify(payload, signature)) return undefined;
  const { success, data } = signed.safeParse(JSON.parse(payload.toString()));
  return success && data.expires > Date.now() ? data.principal : undefined;
}
