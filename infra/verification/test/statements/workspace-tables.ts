import type { Catalog, CatalogTable } from '../../compat/schema-catalog.ts';

/** Tables of the installation by their names in every schema or in one, and why they are of no workspace. */
const OF_INSTALLATION: Readonly<Record<string, string>> = {
  outbox: 'one relay publishes the rows of all workspaces, which take turns',
  inbox: 'it has the IDs of messages, which are unique in the installation',
  dead_letters: 'it has what a broker would have, by queue and message',
  'gateway.workspaces': 'a workspace is found by its slug',
  'gateway.identity_version': 'it has one row',
  'gateway.installation': 'it has one row',
  'incident.alert_clock': 'it has one row',
  'webhook.windows': 'it has the few counts of a minute, also of hosts and addresses that several workspaces have',
  'webhook.slots': 'it has the few requests under way, which all count in the limits of the installation',
  'webhook.host_addresses': 'several workspaces may have the same host',
};

const COLUMN = 'workspace_id';

const isOfInstallation = (name: string): boolean =>
  [name, name.slice(name.indexOf('.') + 1)].some((each) => Object.hasOwn(OF_INSTALLATION, each));

const schemaOf = (name: string): string => name.slice(0, name.indexOf('.'));

function* tablesOfWorkspaces({ tables }: Catalog): Generator<[name: string, table: CatalogTable]> {
  for (const [name, table] of Object.entries(tables)) if (!isOfInstallation(name)) yield [name, table];
}

/** The tables with rows of workspaces, without their schemas, by schema. */
export function workspaceTables(catalog: Catalog): Map<string, Set<string>> {
  const names = [...tablesOfWorkspaces(catalog)].map(([name]) => name);
  const bySchema = Map.groupBy(names, schemaOf);
  return new Map([...bySchema].map(([schema, all]) => [schema, new Set(all.map((name) => name.split('.')[1] ?? ''))]));
}

/**
 * What prevents the tables with rows of workspaces from being partitioned or distributed by workspaces: a table without
 * the column, and each primary, unique or foreign key and unique index that does not begin with it.
 */
export const keysWithoutWorkspace = (catalog: Catalog): string[] =>
  [...tablesOfWorkspaces(catalog)].flatMap(([name, { columns, constraints = {}, indexes = {} }]) => [
    ...(Object.hasOwn(columns, COLUMN) ? [] : [`${name} has no ${COLUMN}`]),
    ...Object.entries({ ...constraints, ...indexes })
      .filter(([, { definition }]) => isKey(definition) && !beginsWithWorkspace(definition))
      .map(([key, { definition }]) => `${name}: ${key} ${definition}`),
  ]);

const isKey = (definition: string) => /^(?:primary key|unique|foreign key|create unique index) /i.test(definition);

const beginsWithWorkspace = (definition: string) => new RegExp(String.raw`^[^(]*\(${COLUMN}\b`).test(definition);
