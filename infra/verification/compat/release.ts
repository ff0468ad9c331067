import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Contracts from '@tocsin/contracts';
import type * as Admin from '../../admin/run-admin.ts';
import type * as Apps from '../../apps.ts';
import type * as ChildEnvironment from '../../processes/child-environment.ts';

export type ReleaseName = 'old' | 'new';

/** One of the two releases, with the code of its own tree. */
export interface Release {
  readonly name: ReleaseName;
  readonly root: string;
  readonly apps: typeof Apps.APPS;
  readonly childEnvironment: typeof ChildEnvironment.childEnvironment;
  readonly runAdmin: typeof Admin.runAdmin;
  readonly contracts: Pick<
    typeof Contracts,
    'deadLetterQueueName' | 'envelope' | 'eventData' | 'exchangeName' | 'queueName' | 'QUEUES'
  >;
}

/** Loads the code of a tree, beside that of the other one. */
export async function loadRelease(name: ReleaseName, root: string): Promise<Release> {
  const load = async (file: string): Promise<unknown> => import(pathToFileURL(path.join(root, file)).href);
  const [apps, child, admin, contracts] = (await Promise.all([
    load('infra/apps.ts'),
    load('infra/processes/child-environment.ts'),
    load('infra/admin/run-admin.ts'),
    load('shared/contracts/src/index.ts'),
  ])) as [typeof Apps, typeof ChildEnvironment, typeof Admin, typeof Contracts];
  return {
    name,
    root,
    apps: apps.APPS,
    childEnvironment: child.childEnvironment,
    runAdmin: admin.runAdmin,
    contracts,
  };
}
