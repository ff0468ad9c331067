import {
  boundedText,
  EMAIL,
  instant,
  MAX_SEARCHED_TEXT,
  nameText,
  PERMISSIONS,
  QUOTAS,
  SCOPES,
  timestampInput,
} from '@tocsin/schemas';
import { pageQuery, pagination, pathId, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { isEmail, MAX_EMAIL_LENGTH, MAX_NAME_LENGTH } from '../domain/checks.ts';
import { ROLES, SEATS } from '../../identity/domain/roles.ts';

const id = z.int().min(1);
const revision = id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' });
const role = z.enum(ROLES);
const seat = z.enum(SEATS);
const QUOTA_NAMES = Object.keys(QUOTAS) as [keyof typeof QUOTAS, ...(keyof typeof QUOTAS)[]];

const userId = id.meta({
  description: 'Identifies the user in paths and in other resources; unique in the installation',
});
const userProperties = {
  email: z.string().meta({ description: 'Unique in the workspace, whatever its case' }),
  name: z.string().meta({ description: 'The name for people' }),
  role: role.meta({ description: 'Decides the permissions; from the highest: owner, admin, manager, member, viewer' }),
  seat: seat.meta({ description: '`responder`: may write incidents, services and teams, as far as the role allows' }),
  active: z.boolean().meta({ description: 'Whether the keys of the user are valid' }),
};

/** A user (contract: Users). */
const user = z
  .strictObject({
    id: userId,
    revision,
    ...userProperties,
    created_at: instant.meta({ description: 'When the user was created' }),
    updated_at: instant.meta({ description: 'When the user was last changed' }),
    last_seen_at: instant.nullable().optional().meta({
      description:
        'The minute of the last request with a key or session of the user; null: none so far. Another gateway may know it a minute later. Only callers with `manage_settings` get it',
    }),
  })
  .meta({ id: 'User' });

export type UserWire = z.infer<typeof user>;

const keyId = id.meta({ description: 'Identifies the key in paths; unique in the installation' });
const keyProperties = {
  name: z.string().meta({ description: 'What the key is for' }),
  prefix: z.string().meta({ description: 'The first characters of its token' }),
  scopes: z.array(z.string()).meta({ description: 'What the key allows, as far as its owner may do it' }),
  created_at: instant.meta({ description: 'When the key was created' }),
  expires_at: instant.nullable().meta({ description: 'When the token becomes invalid; null: never' }),
  last_used_at: instant.nullable().meta({
    description:
      'The minute of the last request with the token; null: none so far. Another gateway may know it a minute later',
  }),
};

/** The caller (contract: Users). */
export const me = z
  .strictObject({
    installation_id: z.uuid().meta({
      description:
        'Identifies the installation, whatever its addresses are; a restored backup has that of its original',
    }),
    workspace: z
      .strictObject({
        id: id.meta({ description: 'ID of the workspace; `company_id` in other resources' }),
        slug: z.string().meta({ description: 'The first label of its host' }),
        name: z.string().meta({ description: 'The name for people' }),
        demo: z.boolean().meta({ description: 'Whether it is a demo workspace, which sends no webhooks' }),
        short_title_required: z.boolean().meta({ description: 'Whether a new incident must have a short title' }),
        chat: z.boolean().nullable().meta({
          description: 'Whether it is connected to its chat; null while the incident service does not answer',
        }),
      })
      .meta({ description: 'The workspace of the token' }),
    user: z.strictObject({ id: userId, ...userProperties }).meta({ description: 'The user that the token acts for' }),
    permissions: z.array(z.enum(PERMISSIONS)).meta({ description: 'What the role of the user allows' }),
    api_key: z.strictObject({ id: keyId, ...keyProperties }).meta({ description: 'The key of the token' }),
    quotas: z
      .array(
        z.strictObject({
          name: z.enum(QUOTA_NAMES).meta({ description: 'As in the table of quotas' }),
          used: z.int().min(0).nullable().meta({
            description:
              'How much of it is used; null for timeline_events, a quota of each incident, and while nobody can tell',
          }),
          limit: z.int().min(0).nullable().meta({ description: 'How much is allowed; null: unlimited' }),
        }),
      )
      .meta({ description: 'The quotas of the workspace' }),
  })
  .meta({ id: 'Me' });

export type MeWire = z.infer<typeof me>;

export const userReply = z.strictObject({ user: schemaReference(user, 'The user as it is after the request') });
export const userPage = z.strictObject({
  users: z.array(user).meta({ description: 'The users of the page, by email address' }),
  pagination,
});

/** What everybody in the workspace may know about a user. */
const namedUser = z
  .strictObject({ id: userId, name: userProperties.name, active: userProperties.active })
  .meta({ id: 'NamedUser' });

export const namedUserReply = z.strictObject({ user: schemaReference(namedUser, 'The user') });

const MAX_VIEWS = 50;
const MAX_VIEW_NAME = 60;
const MAX_VIEW_SEARCH = 2_048;

/** The saved views of the caller (contract: Users). */
const savedViews = z
  .strictObject({
    revision: id.meta({ description: 'Starts at 1 and increases with every change; a PUT must send it' }),
    views: z
      .array(
        z.strictObject({
          name: z.string().meta({ description: 'What the user calls it' }),
          search: z.string().meta({ description: 'What it selects, in the form of the client that stored it' }),
        }),
      )
      .meta({ description: 'In the order of the request that stored them' }),
  })
  .meta({ id: 'SavedViews' });

export const savedViewsReply = z.strictObject({
  saved_views: schemaReference(savedViews, 'The views as they are after the request'),
});

export const newSavedViews = z
  .strictObject({
    views: z
      .array(
        z.strictObject({
          name: nameText(MAX_VIEW_NAME).meta({ description: 'A name; 1 to 60 characters after trimming' }),
          search: boundedText(MAX_VIEW_SEARCH).meta({ description: 'Any text of at most 2,048 characters' }),
        }),
      )
      .max(MAX_VIEWS)
      .meta({ description: 'All views of the user, at most 50' }),
  })
  .meta({ id: 'NewSavedViews' });

const name = nameText(MAX_NAME_LENGTH);
const email = boundedText(MAX_EMAIL_LENGTH)
  .refine(isEmail, 'Is not an email address')
  .meta({ minLength: 3, pattern: EMAIL.source });

export const newUser = z
  .strictObject({
    email: email.meta({ description: 'Unique in the workspace, whatever its case' }),
    name: name.meta({ description: 'The name for people; 1 to 255 characters after trimming' }),
    role: role.optional().meta({
      description: 'Decides the permissions; not above the role of the caller; default: `member`',
      default: 'member',
    }),
    seat: seat.optional().meta({ description: '`responder`: may write; default: `none`', default: 'none' }),
  })
  .meta({ id: 'NewUser' });

export const userPatch = z
  .strictObject({
    email: email.optional().meta({
      description:
        'Unique in the workspace, whatever its case; another one ends the sessions and sign-in links of the user',
    }),
    name: name.optional().meta({ description: 'The name for people; 1 to 255 characters after trimming' }),
    role: role.optional().meta({ description: 'Decides the permissions; not above the role of the caller' }),
    seat: seat.optional().meta({ description: '`responder`: may write' }),
    active: z.boolean().optional().meta({ description: 'false: the keys of the user become invalid' }),
  })
  .meta({ id: 'UserPatch' });

export const userQuery = z.strictObject({
  ...pageQuery,
  active: z.boolean().optional().meta({ description: 'Only active users, or only deactivated ones' }),
  role: role.optional().meta({ description: 'Only users with this role' }),
  seat: seat.optional().meta({ description: 'Only users with this seat' }),
  q: z
    .string()
    .min(1)
    .max(MAX_SEARCHED_TEXT)
    .optional()
    .meta({ description: 'Only users whose name or email address contains this text, in any case' }),
});

export const userParams = z.strictObject({ id: pathId.meta({ description: 'ID of the user' }) });
export const keyParams = z.strictObject({ id: pathId.meta({ description: 'ID of the key' }) });
export const keyQuery = z.strictObject(pageQuery);

/** An API key (contract: API keys). */
const apiKey = z
  .strictObject({
    id: keyId,
    revision,
    user_id: id.meta({ description: 'ID of the user that the key acts for' }),
    ...keyProperties,
    revoked_at: instant.nullable().meta({ description: 'When the key was revoked; null: it is not' }),
  })
  .meta({ id: 'ApiKey' });

export type ApiKeyWire = z.infer<typeof apiKey>;

export const keyReply = z.strictObject({ api_key: schemaReference(apiKey, 'The key as it is after the request') });
export const tokenReply = keyReply.extend({
  token: z.string().meta({ description: 'The token, which is shown only here: `Authorization: Bearer <token>`' }),
});
export const keyPage = z.strictObject({
  api_keys: z.array(apiKey).meta({ description: 'The keys of the page, by the email address of the owner and ID' }),
  pagination,
});

/** Far more than there are. */
const MAX_SCOPES = 100;
const scopes = z.array(z.enum(SCOPES)).min(1).max(MAX_SCOPES);

export const newKey = z
  .strictObject({
    name: name.meta({ description: 'What the key is for; 1 to 255 characters after trimming' }),
    scopes: scopes.meta({ description: 'At least one, and none that the key of the request lacks' }),
    user_id: id.optional().meta({ description: 'The user that the key acts for; default: the caller' }),
    expires_at: timestampInput.nullable().optional().meta({
      description:
        'When the token becomes invalid; null: never. Not later than the key of the request; in a session without `manage_settings` within 90 days. Default: as late as that allows',
    }),
  })
  .meta({ id: 'NewApiKey' });

export const keyPatch = z
  .strictObject({
    name: name.optional().meta({ description: 'What the key is for; 1 to 255 characters after trimming' }),
    scopes: scopes.optional().meta({ description: 'Some of the scopes that the key has; none can be added' }),
  })
  .meta({ id: 'ApiKeyPatch' });

export const keyRotation = z
  .strictObject({
    overlap_hours: z
      .int()
      .min(0)
      .max(24)
      .optional()
      .meta({ description: 'How long the old token stays valid; default: 0, it ends at once', default: 0 }),
  })
  .meta({ id: 'ApiKeyRotation' });
