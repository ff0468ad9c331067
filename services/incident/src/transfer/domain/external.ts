/** Names an incident in another system: the system, and the incident's ID there. */
export interface External {
  source: string;
  id: string;
}

/** The source of external IDs that name none, as a client may set them. */
const NO_SOURCE = 'external_id';
/** The source of incidents that have no external ID. */
const OWN_SOURCE = 'tocsin';

const SOURCE = '[a-z0-9][a-z0-9_-]{0,31}';
export const SOURCE_PATTERN = new RegExp(`^${SOURCE}$`);
const WITH_SOURCE = new RegExp(`^(${SOURCE}):(.+)$`, 's');

/** Returns the external ID of an incident that is imported from a source (ADR 63): `dispatch:214`. */
export const toExternalId = ({ source, id }: External): string => (source === NO_SOURCE ? id : `${source}:${id}`);

/** The opposite of `toExternalId`; without an external ID, the incident is named by its own reference. */
export function externalOf(externalId: string | null, own: { workspace: string; reference: string }): External {
  if (externalId === null) return { source: OWN_SOURCE, id: `${own.workspace}/${own.reference}` };
  const [, source = NO_SOURCE, id = ''] = WITH_SOURCE.exec(externalId) ?? [];
  return source === NO_SOURCE ? { source, id: externalId } : { source, id };
}
