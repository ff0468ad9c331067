import { invalidState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

/** A resource that counts its revisions and is archived instead of deleted. */
export interface Resource {
  revision: number;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
}

/** A resource of a workspace that is stored under a slug. */
export interface StoredResource extends Resource {
  id: number;
  workspaceId: number;
  name: string;
  slug: string;
  externalId: string | null;
}

/** @throws DomainError `invalid_resource_state` if the resource is archived */
export function checkNotArchived({ archivedAt }: Pick<Resource, 'archivedAt'>): void {
  if (archivedAt !== null) throw invalidState('The resource is archived; it can only be read or restored');
}

/** Returns the next revision of a resource, with some properties changed. */
export function revise<Kind extends Resource>(resource: Kind, changes: Partial<NoInfer<Kind>>, now: Instant): Kind {
  return { ...resource, ...changes, revision: resource.revision + 1, updatedAt: now };
}

/** @throws DomainError `invalid_resource_state` if the resource is already archived */
export function archive<Kind extends Resource>(resource: Kind, now: Instant): Kind {
  checkNotArchived(resource);
  return { ...revise(resource, {}, now), archivedAt: now };
}

/** @throws DomainError `invalid_resource_state` if the resource is not archived */
export function restore<Kind extends Resource>(resource: Kind, now: Instant): Kind {
  if (resource.archivedAt === null) throw invalidState('The resource is not archived');
  return { ...revise(resource, {}, now), archivedAt: null };
}
