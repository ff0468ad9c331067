import { APP_NAMES, type AppName, APPS, type AppSchema } from '../../installation/apps.ts';

/** What an app owns and other apps copy. */
export interface ReplicaOwner extends NonNullable<AppSchema['copied']> {
  app: AppName;
}

export interface Replica {
  holder: AppName;
  owner: ReplicaOwner;
  tables: readonly { table: string; source: string }[];
}

export const OWNERS: readonly ReplicaOwner[] = APP_NAMES.flatMap((app) => {
  const { copied } = APPS[app].schema;
  return copied === undefined ? [] : { app, ...copied };
});

/** The owner of the data of an app. @throws if nobody may copy them */
export function ownerOf(app: AppName): ReplicaOwner {
  const owner = OWNERS.find((each) => each.app === app);
  if (owner === undefined) throw new Error(`${app} has nothing that other apps copy`);
  return owner;
}

export const REPLICAS: readonly Replica[] = APP_NAMES.flatMap((holder) =>
  APP_NAMES.flatMap((app) => {
    const tables = APPS[holder].schema.copies?.[app];
    if (tables === undefined) return [];
    return {
      holder,
      owner: ownerOf(app),
      tables: Object.entries(tables).map(([table, source]) => ({ table, source })),
    };
  }),
);

/** Tables that have the IDs of workspaces. */
export const WITH_WORKSPACES = APP_NAMES.flatMap((app) =>
  (APPS[app].schema.workspaces ?? []).map((table) => ({ app, table })),
);
