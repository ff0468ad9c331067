import { boundedText, externalIdText, instant, keyText, MAX_RAW_LIST, nameText, trimmedText } from '@tocsin/schemas';
import { normaliseList, pagination, schemaReference } from '@tocsin/http';
import { isSlug, MAX_SLUG_BYTES, type SlugRule, slugFromName, withDefaults } from '@tocsin/versioned-resources';
import { isWebAddress } from '@tocsin/schemas/markdown';
import { z } from 'zod';
import { MEMBER_ROLES } from '../domain/member.ts';
import { SERVICE_SLUG } from '../domain/service.ts';
import { TEAM_SLUG } from '../domain/team.ts';

const id = z.int().min(1);
/** The properties of every resource of the catalog. */
const resource = {
  revision: id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
  company_id: id.meta({ description: 'ID of the workspace' }),
  created_at: instant.meta({ description: 'When it was created' }),
  updated_at: instant.meta({ description: 'When it was last changed, archived or restored' }),
  archived_at: instant.optional().meta({ description: 'When it was archived; absent while it is active' }),
};
const storedDescription = z
  .string()
  .optional()
  .meta({ description: 'For people, at most 10,000 characters; absent if empty' });

/** A service (contract: Catalog). Properties without a value are absent. */
const service = z
  .strictObject({
    id: id.meta({ description: 'Identifies the service in paths; unique in the installation' }),
    name: z.string().meta({ description: 'The name for people; several services can have the same' }),
    slug: z.string().meta({
      description: 'Names the service in incidents; unique in the workspace, archived services included; never changes',
    }),
    owner_team_id: id.optional().meta({ description: 'ID of the team that owns the service; absent without one' }),
    owner_team_name: z.string().optional().meta({ description: 'Name of that team; absent without one' }),
    owner_team_slug: z.string().optional().meta({ description: 'Slug of that team; absent without one' }),
    tier: z.string().meta({ description: "Key of one of the workspace's service tiers: how important the service is" }),
    tags: z.array(z.string()).meta({ description: 'Texts for grouping, without blank and repeated ones; empty: none' }),
    external_id: z
      .string()
      .optional()
      .meta({ description: 'ID of the service in another system, unique in the workspace; absent without one' }),
    runbook_url: z.string().optional().meta({ description: 'Where to read what to do; absent without one' }),
    observability_names: z
      .array(z.string())
      .optional()
      .meta({ description: 'Names of the service in monitoring systems; absent if there are none' }),
    description: storedDescription,
    ...resource,
  })
  .meta({ id: 'Service' });

/** A team (contract: Catalog). Properties without a value are absent. */
const team = z
  .strictObject({
    id: id.meta({ description: 'Identifies the team in paths and in other resources; unique in the installation' }),
    name: z.string().meta({ description: 'The name for people; several teams can have the same' }),
    slug: z
      .string()
      .meta({ description: 'A name for programs; unique in the workspace, archived teams included; never changes' }),
    parent_team_id: id.optional().meta({ description: 'ID of the team above this one; absent at the top' }),
    external_id: z
      .string()
      .optional()
      .meta({ description: 'ID of the team in another system, unique in the workspace; absent without one' }),
    member_count: z.int().min(0).optional().meta({ description: 'Number of members who are active users' }),
    description: storedDescription,
    ...resource,
  })
  .meta({ id: 'Team' });

const member = z
  .strictObject({
    user_id: id.meta({ description: 'ID of the user, who is active' }),
    name: z.string().meta({ description: 'Name of the user' }),
    email: z.string().meta({ description: 'E-mail address of the user' }),
    role: z.enum(MEMBER_ROLES).meta({ description: 'The role in this team; it gives no permission' }),
    created_at: instant.meta({ description: 'When the user became a member' }),
    updated_at: instant.meta({ description: 'When the role was last changed' }),
  })
  .meta({ id: 'TeamMember' });

const membership = z
  .strictObject({
    user_id: member.shape.user_id,
    team_id: id.meta({ description: 'ID of the team' }),
    team_name: z.string().meta({ description: 'Name of the team' }),
    team_archived_at: instant.optional().meta({ description: 'When the team was archived; absent while it is active' }),
    role: member.shape.role,
  })
  .meta({ id: 'TeamMembership' });

const serviceTier = z
  .strictObject({
    key: z.string().meta({ description: 'Names the tier in requests and services; unique in the workspace' }),
    label: z.string().meta({ description: 'The name for people' }),
    order: z.int().min(0).meta({ description: 'The rank, from 0 for the most important' }),
    is_default: z
      .boolean()
      .meta({ description: 'Whether a new service gets it if the request names none; one tier has it' }),
    description: z.string().meta({ description: 'What the tier means; empty: not described' }),
  })
  .meta({ id: 'ServiceTier' });

const unmanagedReference = z
  .strictObject({
    value: z.string().meta({ description: 'What the incidents have as their service' }),
    incident_count: z.int().min(1).meta({ description: 'Number of active incidents with this value' }),
  })
  .meta({ id: 'UnmanagedReference' });

export type ServiceWire = z.infer<typeof service>;
export type TeamWire = z.infer<typeof team>;
export type MemberWire = z.infer<typeof member>;
export type MembershipWire = z.infer<typeof membership>;

export const serviceReply = z.strictObject({
  service: schemaReference(service, 'The service as it is after the request'),
});
export const servicePage = z.strictObject({
  services: z.array(service).meta({ description: 'The services of the page, by rank of their tier, then by name' }),
  unmanaged_references: z.array(unmanagedReference).max(100).meta({
    description:
      'Services of incidents that match no slug of the catalog, the most frequent first; only on the first page, otherwise empty',
  }),
  unmanaged_references_truncated: z.boolean().meta({
    description:
      'Whether there are more than 100 such values, or they cannot be read at the moment; false on later pages',
  }),
  pagination,
});
export const teamReply = z.strictObject({ team: schemaReference(team, 'The team as it is after the request') });
export const teamPage = z.strictObject({
  teams: z.array(team).meta({ description: 'The teams of the page, by name' }),
  pagination,
});
export const memberReply = z.strictObject({ member: schemaReference(member, 'The member as it is after the request') });
export const memberPage = z.strictObject({
  members: z.array(member).meta({ description: 'The members of the page' }),
  pagination,
});
export const membershipPage = z.strictObject({
  memberships: z.array(membership).meta({ description: 'The memberships of the page, by the IDs of user and team' }),
  pagination,
});
export const serviceTiersReply = z.strictObject({
  service_tiers: z.array(serviceTier).meta({ description: 'All tiers of the workspace, the most important first' }),
});

const name = nameText(128).meta({ description: 'A name for people; 1 to 128 characters after trimming' });
/** The characters of a slug before its normalization, which can shorten a text to a third. */
const MAX_SLUG_INPUT = 3 * MAX_SLUG_BYTES;
/** @param pattern what the API description says of the rule (ADR 82) */
const slug = (rule: SlugRule, form: string, pattern = rule.pattern.source) =>
  z
    .string()
    .max(MAX_SLUG_INPUT, { error: `Must be ${form}`, abort: true })
    .refine((value) => isSlug(value, rule), {
      error: ({ input }) => {
        const near = slugFromName(String(input), rule);
        return `Must be ${form}${near === undefined ? '' : `, such as ${near}`}`;
      },
    })
    .meta({
      minLength: 1,
      maxLength: MAX_SLUG_BYTES,
      pattern,
      description: `Permanent: ${form}; made from the name unless given`,
    });
/** The limit applies to the stored list, which has neither blanks nor repetitions. */
const names = z
  .array(trimmedText(128))
  .max(MAX_RAW_LIST)
  .refine((values) => normaliseList(values).length <= 50, 'Must have at most 50 items');
const NAMES = 'Trimmed; blanks and repetitions dropped; then at most 50 of at most 128 characters each';
const description = boundedText(10_000).nullable().optional().meta({ description: 'A text for people; null: none' });

const externalId = (kind: string) =>
  externalIdText()
    .nullable()
    .optional()
    .meta({
      description: `ID of the ${kind} in another system, trimmed; no other ${kind} of the workspace, archived ones included, may have it; null: none`,
    });

/** What a create and a PATCH have in common; the create adds its defaults. */
const serviceProperties = {
  description,
  owner_team_id: id
    .nullable()
    .optional()
    .meta({ description: 'ID of an active team that owns the service; null: none' }),
  tier: keyText().optional().meta({ description: "Key of one of the workspace's service tiers" }),
  tags: names.optional().meta({ description: `Texts for grouping. ${NAMES}` }),
  external_id: externalId('service'),
  runbook_url: boundedText(2_048)
    .refine(isWebAddress, 'Must be an absolute http or https URL')
    .meta({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^ /?#][^ ]*$', example: 'https://wiki.example.com/checkout' })
    .nullable()
    .optional()
    .meta({ description: 'Where to read what to do; null: none' }),
  observability_names: names.optional().meta({ description: `Names of the service in monitoring systems. ${NAMES}` }),
};

export const newService = z
  .strictObject({
    name,
    slug: slug(
      SERVICE_SLUG,
      'a letter and then lower-case letters, digits or underscores, at most 64 bytes of UTF-8',
      '^[^\\s!-`{-~][^\\s!-/:-^`{-~]*$',
    ).optional(),
    ...withDefaults(serviceProperties, {
      description: null,
      owner_team_id: null,
      tags: [],
      external_id: null,
      runbook_url: null,
      observability_names: [],
    }),
    tier: serviceProperties.tier.meta({
      description: "Key of one of the workspace's service tiers; default: the workspace's default tier",
    }),
  })
  .meta({ id: 'NewService' });

export const servicePatch = z
  .strictObject({ name: name.optional(), ...serviceProperties })
  .meta({ id: 'ServicePatch' });

const teamProperties = {
  description,
  parent_team_id: id
    .nullable()
    .optional()
    .meta({ description: 'ID of an active team above this one, at most 32 levels in all; null: none, at the top' }),
  external_id: externalId('team'),
};

export const newTeam = z
  .strictObject({
    name,
    slug: slug(TEAM_SLUG, 'a letter from a to z and then such letters, digits or underscores, at most 64').optional(),
    ...withDefaults(teamProperties, { description: null, parent_team_id: null, external_id: null }),
  })
  .meta({ id: 'NewTeam' });

export const teamPatch = z.strictObject({ name: name.optional(), ...teamProperties }).meta({ id: 'TeamPatch' });

const role = z.enum(MEMBER_ROLES).optional().meta({ description: 'The role in this team, which gives no permission' });

export const newMember = z
  .strictObject({
    user_id: id.meta({ description: 'ID of an active user of the workspace' }),
    role: role.meta({
      description: 'The role in this team, which gives no permission; default: `member`',
      default: 'member',
    }),
  })
  .meta({ id: 'NewTeamMember' });

export const memberPatch = z.strictObject({ role }).meta({ id: 'TeamMemberPatch' });
