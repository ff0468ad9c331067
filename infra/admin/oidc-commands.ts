import { type GroupMapping, type GroupRole, ROLES } from '../../gateway/src/administration.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { type Command, workspaceFlag } from './command.ts';
import { consoleUrl } from '../installation/console-url.ts';
import { readSecret, secretFlags } from './read-input.ts';

const textOf = ({ group, role }: GroupRole) => `${group}=${role}`;

interface Provider {
  workspace: string;
  issuer: string;
  clientId: string;
  clientSecretFile?: string;
  clientSecret?: string;
  createViewers?: boolean;
  trustEmail?: boolean;
  groupRole?: GroupRole[];
  groupSeat?: string[];
  groupsClaim?: string;
  groupsScope?: string;
}

/** @throws UsageError for what is no group with a role */
function parseGroupRole(text: string, name: string): GroupRole {
  const [, group, given] = /^(.+)=([^=]*)$/su.exec(text) ?? [];
  const role = ROLES.find((each) => each === given);
  if (group !== undefined && role !== undefined) return { group, role };
  throw new UsageError(`${name}: ${text} is not GROUP=ROLE with one of the roles ${ROLES.join(', ')}`);
}

/** @throws UsageError for a claim or a scope without a group */
function groupMapping(given: Provider): GroupMapping | null {
  const { groupsClaim: claim, groupsScope: scope, groupRole: roles, groupSeat: seats } = given;
  if (roles !== undefined || seats !== undefined)
    return { claim: claim ?? 'groups', scope: scope ?? null, roles, seats };
  if (claim === undefined && scope === undefined) return null;
  throw new UsageError('--groups-claim and --groups-scope need at least one --group-role or --group-seat');
}

export const connect: Command = {
  flags: {
    workspace: workspaceFlag,
    issuer: { value: 'URL', help: 'the https URL of the provider', required: true },
    'client-id': { value: 'ID', help: 'the ID of the client at the provider', required: true },
    ...secretFlags('client-secret', 'secret', "the client's"),
    'create-viewers': { help: 'make viewers of people who have no user; otherwise they are refused' },
    'trust-email': { help: 'the provider verifies all addresses, although it does not say so (email_verified)' },
    'group-role': {
      value: 'GROUP=ROLE',
      help: 'members of the group have this role from their next sign-in on, and people without such a group are viewers; may be repeated',
      multiple: true,
      parse: parseGroupRole,
    },
    'group-seat': {
      value: 'GROUP',
      help: 'members of the group have the seat responder from their next sign-in on, and people without such a group have none; may be repeated',
      multiple: true,
    },
    'groups-claim': { value: 'NAME', help: 'the claim with the groups of a person; groups by default' },
    'groups-scope': { value: 'NAME', help: 'the scope that makes the provider send the claim, if it needs one' },
  },
  run: async (given: Provider, { gateway, env, secretKeys }) => {
    const { workspace: slug, clientSecretFile: file, clientSecret: secret } = given;
    const redirectUri = `${consoleUrl(env, slug)}/app/oidc/callback`;
    const { issuer, clientId, createsViewers, trustsEmail, groups } = await gateway.connectOidc({
      workspace: slug,
      issuer: given.issuer,
      clientId: given.clientId,
      clientSecret: await readSecret('client-secret', { file, secret }),
      createsViewers: given.createViewers ?? false,
      trustsEmail: given.trustEmail ?? false,
      groups: groupMapping(given),
      secretKeys: secretKeys(),
    });
    return {
      oidc: {
        ...{ workspace: slug, connected: true, issuer, client_id: clientId, create_viewers: createsViewers },
        trust_email: trustsEmail,
        ...(groups !== null && { groups_claim: groups.claim }),
        ...(groups?.roles && { group_roles: groups.roles.map(textOf) }),
        ...(groups?.seats && { group_seats: groups.seats }),
        redirect_uri: redirectUri,
      },
    };
  },
};

export const forget: Command = {
  flags: {
    workspace: workspaceFlag,
    email: { value: 'EMAIL', help: 'only the user with this address; otherwise all users of the workspace' },
  },
  table: { rows: 'identities', columns: ['user_id', 'issuer', 'subject'] },
  run: async ({ workspace, email }: { workspace: string; email?: string }, { gateway }) => {
    const identities = await gateway.forgetOidcIdentities({ workspace, email });
    return {
      identities: identities.map(({ userId, issuer, subject }) => ({ user_id: userId, issuer, subject })),
    };
  },
};

export const disconnect: Command = {
  flags: { workspace: workspaceFlag },
  run: async ({ workspace: slug }: { workspace: string }, { gateway }) => {
    await gateway.disconnectOidc(slug);
    return { oidc: { workspace: slug, connected: false } };
  },
};
