import { wrongState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

/** What services and teams have in common (contract: Catalog). */
export interface Resource {
  revision: number;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
}

/** @throws DomainError `invalid_resource_state` for an archived one */
export function checkWritable({ archivedAt }: Resource): void {
  if (archivedAt !== null) throw wrongState('What is archived can be read and restored, and nothing else');
}

/** @throws DomainError `invalid_resource_state` for one that is archived already */
export function archive<Kind extends Resource>(resource: Kind, now: Instant): Kind {
  checkWritable(resource);
  return { ...resource, archivedAt: now, updatedAt: now, revision: resource.revision + 1 };
}

/** @throws DomainError `invalid_resource_state` for one that is not archived */
export function restore<Kind extends Resource>(resource: Kind, now: Instant): Kind {
  if (resource.archivedAt === null) throw wrongState('Only what is archived can be restored');
  return { ...resource, archivedAt: null, updatedAt: now, revision: resource.revision + 1 };
}
