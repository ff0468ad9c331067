import type { Session } from '../../session.ts';
import type { Prunable } from '../compare.ts';
import { type Entity, type LeaveOut, PLACEHOLDER, readEntities } from './backstage-files.ts';
import { documentBuilder, slugOf, type CatalogDocument } from './catalog-document.ts';

/** Annotations with the name of a component in another system: alerts name it so. */
const OBSERVABILITY = ['backstage.io/kubernetes-id', 'sentry.io/project-slug', 'rollbar.com/project-slug'];

/** The properties of each kind that have a place. */
const METADATA = ['name', 'namespace', 'title', 'description'].map((name) => `metadata.${name}`);
const USED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    Component: new Set([
      ...[...METADATA, 'metadata.tags', 'spec.type', 'spec.lifecycle', 'spec.owner', 'spec.system'],
      ...OBSERVABILITY.map((name) => `metadata.annotations.${name}`),
    ]),
    Group: new Set([...METADATA, 'spec.parent', 'spec.children', 'spec.members', 'spec.profile.displayName']),
    User: new Set([
      ...['metadata.name', 'metadata.namespace', 'metadata.title'],
      ...['spec.memberOf', 'spec.profile.displayName', 'spec.profile.email'],
    ]),
  }),
);
/** The lists that lack something if an entity of the kind cannot be read. */
const LISTS: ReadonlyMap<string, readonly Prunable[]> = new Map([
  ['Component', ['services']],
  ['Group', ['teams', 'members']],
  ['User', ['members']],
]);

/**
 * Reads components as services, groups as teams and users from the files of a Backstage catalog. Names become slugs:
 * `artist-lookup` is `artist_lookup`, and keeps its own name among the observability names. What cannot be read is left
 * out, and named.
 * @throws Error naming file and line
 */
export async function readBackstage(session: Session, folders: readonly string[]): Promise<CatalogDocument> {
  const builder = documentBuilder();
  const leaveOut: LeaveOut = (what, kinds = [...LISTS.keys()]) =>
    builder.leaveOut(
      what,
      kinds.flatMap((kind) => LISTS.get(kind) ?? []),
    );
  const entities: Entity[] = [];
  for (const folder of folders) {
    for (const entity of await readEntities(session, folder, leaveOut)) {
      const { kind, place } = entity;
      const used = USED.get(kind);
      const refuse = (reason: string) => leaveOut(`${place}: ${kind} ${entity.metadata.name}: ${reason}`, [kind]);
      if (used === undefined) refuse('has no place in a workspace');
      else if (PLACEHOLDER.test(JSON.stringify(entity))) refuse('has placeholders');
      else if (kind === 'User' && !entity.spec.profile?.email?.trim()) refuse('has no spec.profile.email');
      else if (kind !== 'User' && slugFor(kind === 'Group' ? 'teams' : 'services', referenceOf(entity)) === '')
        refuse('Must have a letter, for a slug');
      else {
        entities.push(entity);
        for (const what of unused(entity, used)) builder.ignore(what);
      }
    }
  }
  const ofKind = (kind: string) => entities.filter((entity) => entity.kind === kind);
  const members = addUsers(ofKind('User'), builder);
  addGroups(ofKind('Group'), members, builder);
  for (const component of ofKind('Component')) addComponent(component, builder);
  return builder.build(folders.join(', '));
}

type Builder = ReturnType<typeof documentBuilder>;

/** Email addresses, by the references of groups and users. */
interface Members {
  ofGroup: Map<string, Set<string>>;
  emailOf: Map<string, string>;
}

function addUsers(users: readonly Entity[], builder: Builder): Members {
  const members: Members = { ofGroup: new Map(), emailOf: new Map() };
  const emails = new Set<string>();
  for (const user of users) {
    const { metadata, spec, place } = user;
    const email = spec.profile?.email?.trim() ?? '';
    members.emailOf.set(referenceOf(user), email);
    for (const group of spec.memberOf ?? []) {
      const reference = resolve(group, 'group', metadata.namespace);
      members.ofGroup.set(reference, (members.ofGroup.get(reference) ?? new Set()).add(email.toLowerCase()));
    }
    // Somebody may have an entity in several namespaces.
    if (emails.has(email.toLowerCase())) continue;
    emails.add(email.toLowerCase());
    builder.add('users', { email, name: nameOf(user) }, { identity: `email ${email.toLowerCase()}`, place });
  }
  return members;
}

function addGroups(groups: readonly Entity[], { ofGroup, emailOf }: Members, builder: Builder): void {
  const parents = new Map<string, string>();
  for (const group of groups)
    for (const child of group.spec.children ?? [])
      parents.set(resolve(child, 'group', group.metadata.namespace), referenceOf(group));
  for (const group of groups) {
    const { metadata, spec, place } = group;
    const reference = referenceOf(group);
    const above = spec.parent === undefined ? undefined : resolve(spec.parent, 'group', metadata.namespace);
    const parent = above ?? parents.get(reference);
    const emails = new Set(ofGroup.get(reference));
    ofGroup.delete(reference);
    for (const member of spec.members ?? []) {
      const email = emailOf.get(resolve(member, 'user', metadata.namespace));
      if (email === undefined) builder.ignore('Group spec.members that has no User with an email address', ['members']);
      else emails.add(email.toLowerCase());
    }
    const slug = slugFor('teams', reference);
    const team = {
      ...{ slug, name: nameOf(group), ...descriptionOf(group) },
      ...(parent !== undefined && { parent: slugFor('teams', parent) }),
      ...(emails.size > 0 && { members: [...emails].map((email) => ({ email })) }),
    };
    builder.add('teams', team, { identity: `slug ${slug}`, place });
  }
  for (const emails of ofGroup.values()) for (const _ of emails) builder.ignore('User spec.memberOf that has no Group');
}

function addComponent(component: Entity, builder: Builder): void {
  const { metadata, spec, place } = component;
  const slug = slugFor('services', referenceOf(component));
  const owner = spec.owner === undefined ? undefined : resolve(spec.owner, 'group', metadata.namespace);
  const isOwned = owner?.startsWith('group:') === true;
  if (owner !== undefined && !isOwned) builder.ignore('Component spec.owner that is no group');
  const others = OBSERVABILITY.map((name) => metadata.annotations[name]).filter((value) => typeof value === 'string');
  // An organisation may stand before the name.
  const names = distinct([metadata.name, ...others.map((value) => value.replace(/^.*\//, ''))]);
  const tags = distinct([
    ...metadata.tags,
    ...(['type', 'lifecycle', 'system'] as const).flatMap((property) =>
      spec[property] === undefined ? [] : [`${property}:${spec[property].replace(/^(?:system:)?(?:default\/)?/, '')}`],
    ),
  ]);
  const service = {
    ...{ slug, name: nameOf(component), ...descriptionOf(component), tags },
    ...(isOwned && { owner_team: slugFor('teams', owner) }),
    observability_names: names.filter((name) => name !== slug),
  };
  builder.add('services', service, { identity: `slug ${slug}`, place });
}

/** `kind:namespace/name` in lower case, as Backstage compares references. */
const referenceOf = ({ kind, metadata: { namespace, name } }: Entity) => `${kind}:${namespace}/${name}`.toLowerCase();

/** A reference, whose kind and namespace may be left out. */
function resolve(reference: string, kind: string, namespace: string): string {
  const [, ownKind = kind, ownNamespace = namespace, name = ''] =
    /^(?:([^:/]*):)?(?:([^/]*)\/)?(.*)$/s.exec(reference.trim()) ?? [];
  return `${ownKind}:${ownNamespace}/${name}`.toLowerCase();
}

/** Empty without a letter. */
const slugFor = (list: 'teams' | 'services', reference: string) =>
  slugOf(list, reference.replace(/^[^:]*:(?:default\/)?/, ''));

const nameOf = ({ metadata, spec }: Entity) =>
  [spec.profile?.displayName, metadata.title].find((text) => text !== undefined && text.trim() !== '')?.trim() ??
  metadata.name;

const descriptionOf = ({ metadata: { description } }: Entity) =>
  typeof description === 'string' ? { description } : {};

const distinct = (texts: readonly string[]) => [
  ...new Set(texts.map((text) => text.trim()).filter((text) => text !== '')),
];

/** What of an entity has no place in a workspace. */
function unused({ kind, place: _, ...entity }: Entity, used: ReadonlySet<string>): string[] {
  const visit = (value: unknown, path: string): string[] => {
    const isInner = /^(?:metadata|spec)?$|^(?:metadata\.annotations|spec\.profile)$/.test(path);
    const isObject = typeof value === 'object' && value !== null;
    if (isInner && isObject)
      return Object.entries(value).flatMap(([name, inner]) => visit(inner, path === '' ? name : `${path}.${name}`));
    if (path === 'metadata.description' && isObject) return [`${kind} ${path} in another file`];
    const isEmpty = value === null || value === '' || (isObject && Object.keys(value).length === 0);
    return used.has(path) || path === 'apiVersion' || isEmpty ? [] : [`${kind} ${path}`];
  };
  return visit(entity, '');
}
