import { boundedText, instant, MAX_KEY, MAX_RAW_LIST, nameText, trimmedText } from '@tocsin/contracts';
import { normaliseList, pagination } from '@tocsin/http';
import { isSlug, MAX_SLUG_BYTES, type SlugRule } from '@tocsin/resources';
import { z } from 'zod';
import { MEMBER_ROLES } from '../domain/member.ts';
import { SERVICE_SLUG, TEAM_SLUG } from '../domain/slug-rules.ts';

const id = z.int().min(1);
const timestamps = { created_at: instant, updated_at: instant, archived_at: instant.optional() };

/** A service (contract: Catalog). Properties without a value are absent. */
export const service = z
  .strictObject({
    id,
    revision: id,
    company_id: id,
    name: z.string(),
    slug: z.string(),
    description: z.string().optional(),
    owner_team_id: id.optional(),
    owner_team_name: z.string().optional(),
    owner_team_slug: z.string().optional(),
    tier: z.string(),
    tags: z.array(z.string()),
    external_id: z.string().optional(),
    observability_names: z.array(z.string()).optional(),
    ...timestamps,
  })
  .meta({ id: 'Service' });

/** A team (contract: Catalog). Properties without a value are absent. */
export const team = z
  .strictObject({
    id,
    revision: id,
    company_id: id,
    name: z.string(),
    slug: z.string(),
    description: z.string().optional(),
    parent_team_id: id.optional(),
    member_count: z.int().min(0).optional(),
    ...timestamps,
  })
  .meta({ id: 'Team' });

export const member = z
  .strictObject({
    user_id: id,
    name: z.string(),
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'TeamMember' });

export const serviceTier = z
  .strictObject({
    key: z.string(),
    label: z.string(),
    order: z.int().min(0),
    is_default: z.boolean(),
    description: z.string(),
  })
  .meta({ id: 'ServiceTier' });

const unmanagedReference = z
  .strictObject({ value: z.string(), incident_count: z.int().min(1) })
  .meta({ id: 'UnmanagedReference' });

export type ServiceWire = z.infer<typeof service>;
export type TeamWire = z.infer<typeof team>;
export type MemberWire = z.infer<typeof member>;
export type ServiceTierWire = z.infer<typeof serviceTier>;

export const serviceReply = z.strictObject({ service });
export const servicePage = z.strictObject({
  services: z.array(service),
  unmanaged_references: z.array(unmanagedReference).max(100),
  unmanaged_references_truncated: z.boolean(),
  pagination,
});
export const teamReply = z.strictObject({ team });
export const teamPage = z.strictObject({ teams: z.array(team), pagination });
export const memberReply = z.strictObject({ member });
export const memberPage = z.strictObject({ members: z.array(member), pagination });
export const serviceTiersReply = z.strictObject({ service_tiers: z.array(serviceTier) });

const name = nameText(128).meta({ description: 'Trimmed; 1 to 128 characters' });
/** The characters of a slug before its normalization, which can shorten a text to a third. */
const MAX_SLUG_INPUT = 3 * MAX_SLUG_BYTES;
const slug = (rule: SlugRule, form: string) =>
  z
    .string()
    .max(MAX_SLUG_INPUT, { error: `Must be ${form}`, abort: true })
    .refine((value) => isSlug(value, rule), `Must be ${form}`)
    .meta({ maxLength: MAX_SLUG_BYTES, description: `Permanent: ${form}; made from the name unless given` });
/** The limit applies to the stored list, which has neither blanks nor repetitions. */
const names = z
  .array(trimmedText(128))
  .max(MAX_RAW_LIST)
  .refine((values) => normaliseList(values).length <= 50, 'Must have at most 50 items')
  .meta({ description: 'Trimmed; blanks and repetitions dropped; then at most 50 of at most 128 characters each' });
const description = boundedText(10_000).nullable();

const serviceProperties = {
  description: description.optional(),
  owner_team_id: id.nullable().optional(),
  tier: boundedText(MAX_KEY).optional(),
  tags: names.optional(),
  external_id: trimmedText(255).nullable().optional(),
  observability_names: names.optional(),
};

export const newService = z
  .strictObject({
    name,
    slug: slug(
      SERVICE_SLUG,
      'a letter and then lower-case letters, digits or underscores, at most 64 bytes of UTF-8',
    ).optional(),
    ...serviceProperties,
  })
  .meta({ id: 'NewService' });

export const servicePatch = z
  .strictObject({ name: name.optional(), ...serviceProperties })
  .meta({ id: 'ServicePatch' });

const teamProperties = { description: description.optional(), parent_team_id: id.nullable().optional() };

export const newTeam = z
  .strictObject({
    name,
    slug: slug(TEAM_SLUG, 'a letter from a to z and then such letters, digits or underscores, at most 64').optional(),
    ...teamProperties,
  })
  .meta({ id: 'NewTeam' });

export const teamPatch = z.strictObject({ name: name.optional(), ...teamProperties }).meta({ id: 'TeamPatch' });

export const newMember = z
  .strictObject({ user_id: id, role: z.enum(MEMBER_ROLES).optional() })
  .meta({ id: 'NewTeamMember' });

export const memberPatch = z.strictObject({ role: z.enum(MEMBER_ROLES).optional() }).meta({ id: 'TeamMemberPatch' });
